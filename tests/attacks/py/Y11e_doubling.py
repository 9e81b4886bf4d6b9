# expect: status=memory_limit limits: memory_mb=64
# The attacker wants a text that doubles.
text = "x"
while True:
    text += text
