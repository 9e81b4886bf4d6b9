# expect: status=exception name=KeyboardInterrupt
# The attacker wants the runtime to think that it was stopped.
raise KeyboardInterrupt("the evaluation was stopped")
