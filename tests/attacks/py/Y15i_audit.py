# expect: status=ok|exception|crashed
# The attacker wants a hook that refuses everything the runtime does.
import sys

def refuse(event, args):
    raise RuntimeError(event)

sys.addaudithook(refuse)
5
