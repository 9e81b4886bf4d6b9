# expect: status=crashed
# The attacker wants to abort.
import os

os.abort()
