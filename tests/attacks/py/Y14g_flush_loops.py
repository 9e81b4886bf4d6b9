# expect: status=wall_limit limits: wall_ms=120
# The attacker wants the runtime to flush a stream for ever.
import sys

class Stream:
    def write(self, text):
        pass

    def flush(self):
        while True:
            pass

sys.stdout = Stream()
5
