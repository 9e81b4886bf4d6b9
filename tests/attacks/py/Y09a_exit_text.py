# expect: status=ok|exception
# The attacker wants to end with a text for a code.
import sys

sys.exit("x" * 1_000_000)
