# expect: status=ok value=0
# The attacker wants to signal everybody, its parent, its group and guessed numbers.
import os
import signal

sent = 0
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, 0):
    for pid in (-1, 0, 1, os.getppid(), os.getpid() + 1, 2, 3, 100):
        for attempt in (os.kill, os.killpg):
            try:
                attempt(pid, number)
                sent += 1
            except (OSError, OverflowError):
                pass
sent
