# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a native loop over an endless iterator.
import collections
import itertools

collections.deque(itertools.count(), maxlen=0)
