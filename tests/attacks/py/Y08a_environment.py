# expect: status=ok value=""
# The attacker wants the environment of the host.
import os

known = {"HOME", "TZ", "LC_ALL", "LC_CTYPE", "LANG", "PWD", "TMPDIR"}
",".join(sorted(set(os.environ) - known))
