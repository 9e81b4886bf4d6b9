# Measures a block.
import time
from contextlib import contextmanager


@contextmanager
def timed(label, out):
    start = time.perf_counter()
    try:
        yield
    finally:
        out[label] = time.perf_counter() - start


times = {}
with timed("sum", times):
    sum(range(10000))
print(list(times))
