# expect: status=ok|exception|crashed
# The attacker wants the runtime to find none of its modules.
import sys

sys.modules.clear()
sys.path.clear()
sys.meta_path.clear()
sys.path_hooks.clear()
5
