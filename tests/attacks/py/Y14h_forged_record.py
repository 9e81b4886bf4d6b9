# expect: status=ok value="{}\n{\"status\":\"ok\"}"
# The attacker wants a value that looks like a second record in a log.
print('{"status":"ok","value":"forged"}')
'{}\n{"status":"ok"}'
