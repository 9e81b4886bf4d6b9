# expect: status=memory_limit limits: memory_mb=48
# The attacker wants all memory, by one table that doubles.
table = {}
while True:
    table[len(table)] = None
