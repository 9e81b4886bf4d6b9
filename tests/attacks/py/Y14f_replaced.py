# expect: status=ok|exception
# The attacker wants the runtime to flush a stream that it made.
import sys

class Stream:
    def __init__(self):
        self.count = 0

    def write(self, text):
        self.count += 1
        if self.count < 200:
            print(text)

    def flush(self):
        raise KeyboardInterrupt("flushed")

sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Stream()
print("x")
5
