# expect: status=crashed
# The attacker wants to end with success and without a result.
import os

os._exit(0)
