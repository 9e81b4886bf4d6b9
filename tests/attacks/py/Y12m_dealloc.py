# expect: status=ok value=1 limits: wall_ms=4000 memory_mb=256
# The attacker wants the end of a chain of half a million objects to overflow the stack.
chain = None
for _ in range(400_000):
    chain = (chain,)
del chain

class Node:
    pass

first = node = Node()
for _ in range(100_000):
    node.next = Node()
    node = node.next
del first, node
1
