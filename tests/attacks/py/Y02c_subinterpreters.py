# expect: status=ok|crashed|exception
# The attacker wants an interpreter of its own, without the hooks of the first one.
import sys

plain = sys.modules["_vial.imports"].plain_import
interpreters = plain("_xxsubinterpreters")
other = interpreters.create()
interpreters.run_string(other, "import os\ntry:\n    os.fork()\n    print('forked')\nexcept OSError:\n    pass")
interpreters.run_string(other, "import sys; sys.exit(1)")
