# expect: status=ok value="PermissionError,PermissionError,PermissionError"
# The attacker wants to end itself by a signal, and not by its result.
import os
import signal
import threading

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"

attempts = [
    lambda: os.kill(os.getpid(), signal.SIGKILL),
    lambda: signal.raise_signal(signal.SIGKILL),
    lambda: signal.pthread_kill(threading.get_ident(), signal.SIGKILL),
]
",".join(outcome(a) for a in attempts)
