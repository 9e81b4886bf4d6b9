# expect: status=ok value=true limits: disk_bytes=1048576
# The attacker wants to fill the disk with one file.
code = 0
try:
    with open("big", "wb") as file:
        while True:
            file.write(b"x" * 65536)
except OSError as error:
    code = error.errno
code in (27, 28)
