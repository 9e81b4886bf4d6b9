# expect: status=ok value=28 limits: files=100
# The attacker wants to fill the disk with names.
code = 0
try:
    for i in range(100_000):
        open(f"f{i}", "w").close()
except OSError as error:
    code = error.errno
code
