# expect: status=ok value="PermissionError"
# The attacker wants what a refused module can do, once the advice is out of the way.
import builtins
import sys

builtins.__import__ = sys.modules["_vial.imports"].plain_import
import socket
import subprocess

try:
    socket.socket()
except OSError as error:
    came = type(error).__name__
try:
    subprocess.run(["id"])
except OSError as error:
    came = type(error).__name__ if came == type(error).__name__ else "started"
came
