# Primes without an end, and the first ten of them.
from itertools import islice


def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found):
            found.append(n)
            yield n
        n += 1


list(islice(primes(), 10))
