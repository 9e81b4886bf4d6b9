# expect: status=ok
# The attacker wants bytes in its output that are no text, or drive a terminal.
import os
import sys

sys.stdout.buffer.write(bytes(range(256)) * 100)
os.write(1, b"\xff\xfe\x00\x1b]0;owned\x07\x1b[2J\r\n")
print("\ud800 \x00 \u202e")
