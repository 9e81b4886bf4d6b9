# expect: status=exception name=GeneratorExit
# The attacker wants an end that the runtime swallows.
raise GeneratorExit
