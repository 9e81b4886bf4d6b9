# expect: status=ok value=27 limits: disk_bytes=1048576
# The attacker wants a file that is larger than its limit, of holes.
code = 0
for attempt in (lambda f: f.truncate(2**62), lambda f: (f.seek(2**40), f.write(b"x")), lambda f: f.truncate(2**63 - 1)):
    with open("holes", "wb", buffering=0) as file:
        try:
            attempt(file)
            code = 0
            break
        except OSError as error:
            code = error.errno
code
