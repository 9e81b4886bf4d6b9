# How many steps to one.
def steps(n):
    count = 0
    while True:
        if n == 1:
            return count
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1


{n: steps(n) for n in (6, 7, 27)}
