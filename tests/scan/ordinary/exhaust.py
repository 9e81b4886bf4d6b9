# Takes from an iterator until it has no more.
items = iter(range(5))
out = []
try:
    while True:
        out.append(next(items) * 2)
except StopIteration:
    pass
print(out)
