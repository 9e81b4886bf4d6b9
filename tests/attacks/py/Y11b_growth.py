# expect: status=memory_limit limits: memory_mb=48
# The attacker wants all memory, by a list that grows.
kept = []
while True:
    kept.append([len(kept)] * 100)
