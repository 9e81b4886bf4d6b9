# expect: status=memory_limit|exception|wall_limit limits: wall_ms=2000 memory_mb=96
# The attacker wants a small pickle to become a terabyte.
import pickle

bomb = b"(lp0\n" + b"".join(b"(g%dg%dg%dg%dg%dg%dg%dg%dg%dg%dlp%d\n" % ((i,) * 10 + (i + 1,)) for i in range(30)) + b"."
value = pickle.loads(bomb)
import json
len(json.dumps(value))
