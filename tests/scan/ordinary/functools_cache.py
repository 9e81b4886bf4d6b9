# Remembers results.
from functools import lru_cache, reduce


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(80), reduce(lambda a, b: a * b, range(1, 6)))
