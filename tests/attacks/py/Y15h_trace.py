# expect: status=ok|exception|crashed|wall_limit limits: wall_ms=1000
# The attacker wants to be called in the middle of the runtime, and fail there.
import sys
import threading

def trace(frame, event, arg):
    if "vial" in frame.f_code.co_filename:
        raise KeyboardInterrupt(event)
    return trace

threading.settrace(trace)
threading.setprofile(trace)
sys.setprofile(trace)
sys.settrace(trace)
5
