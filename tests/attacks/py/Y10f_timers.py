# expect: status=ok value="ItimerError,4294967295"
# The attacker wants a storm of signals from timers.
import signal

came = []
signal.signal(signal.SIGALRM, lambda *args: None)
try:
    signal.setitimer(signal.ITIMER_REAL, 1e-6, 1e-6)
except signal.ItimerError as error:
    came.append("ItimerError")
came.append(str(signal.alarm(1)))
",".join(came)
