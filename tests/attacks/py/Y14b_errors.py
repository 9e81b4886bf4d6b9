# expect: status=output_limit|wall_limit limits: wall_ms=4000
# The attacker wants the same on the stream for errors.
import sys

while True:
    sys.stderr.write("x" * 100_000)
