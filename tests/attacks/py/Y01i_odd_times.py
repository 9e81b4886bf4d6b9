# expect: status=ok value="[][]OverflowErrorTypeError"
# The attacker wants to wait until times that do not exist.
import sys

host, came = sys.modules["_vial_host"], ""
for seconds in (0.0, 1e-300, 10**400, object()):
    try:
        came += str(host.answers(seconds))
    except BaseException as error:
        came += type(error).__name__
came
