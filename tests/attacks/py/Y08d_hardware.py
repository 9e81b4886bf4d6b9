# expect: status=ok
# The attacker wants the address of the network card and other lasting marks of the machine.
import os
import platform
import sys
import uuid

text = repr((uuid.getnode(), platform.platform(), platform.processor(), platform.libc_ver(), os.getloadavg(), os.sysconf("SC_PHYS_PAGES")))
assert uuid.getnode() >> 40 & 1, "a random number, not that of a card"
text
