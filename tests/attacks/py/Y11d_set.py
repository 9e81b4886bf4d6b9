# expect: status=memory_limit limits: memory_mb=48
# The attacker wants all memory, by a set of texts.
kept, n = set(), 0
while True:
    kept.add(str(n))
    n += 1
