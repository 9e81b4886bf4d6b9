# expect: status=output_limit limits: wall_ms=4000 stdout_bytes=100000
# The attacker wants to drown the host in output.
while True:
    print("x" * 10_000)
