# expect: status=exception name=ZeroDivisionError
# The attacker wants its own hooks to be called with errors, and never to return.
import sys
import threading

def stay(*args):
    while True:
        pass

sys.excepthook = sys.unraisablehook = threading.excepthook = sys.displayhook = stay
1 / 0
