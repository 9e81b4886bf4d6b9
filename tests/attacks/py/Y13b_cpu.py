# expect: status=cpu_limit limits: cpu_ms=100
# The attacker wants more processor time than it was given, in pieces between waits.
import time

while True:
    time.sleep(0.001)
    sum(range(100_000))
