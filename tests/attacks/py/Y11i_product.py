# expect: status=memory_limit|wall_limit limits: wall_ms=1000 memory_mb=64
# The attacker wants all memory in one native call, by a product.
import itertools

list(itertools.product(range(1000), repeat=4))
