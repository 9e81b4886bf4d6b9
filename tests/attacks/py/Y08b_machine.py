# expect: status=ok value="vial|vial|6.1.0|/usr/bin/python3|attack.py|1|/home/vial|vial|1000|0"
# The attacker wants to learn the names of the host, its user, its programs and its kernel.
import getpass
import os
import platform
import sys

"|".join(str(v) for v in (os.uname().nodename, platform.node(), platform.release(), sys.executable, ",".join(sys.argv), os.cpu_count(),
    os.path.expanduser("~"), getpass.getuser(), os.getuid(), os.getppid()))
