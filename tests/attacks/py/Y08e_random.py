# expect: status=ok
# The attacker wants random numbers that another run has drawn.
import os
import random
import secrets

assert os.urandom(16) != os.urandom(16) and random.getstate() != random.Random(0).getstate()
secrets.token_hex() != secrets.token_hex()
