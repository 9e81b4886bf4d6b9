# expect: status=ok value=0
# The attacker wants to fork until the machine is full.
import os

made = 0
for _ in range(20_000):
    try:
        if os.fork() == 0:
            os._exit(0)
        made += 1
    except OSError:
        pass
made
