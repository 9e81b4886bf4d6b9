# expect: status=cpu_limit limits: cpu_ms=100
# The attacker wants to catch, ignore and block every signal, and compute.
import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    pass
