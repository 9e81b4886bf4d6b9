# expect: status=exception
# The attacker wants the runtime to follow a value for ever.
value = {}
value["self"] = [value]
value
