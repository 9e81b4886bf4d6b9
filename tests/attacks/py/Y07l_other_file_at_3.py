# expect: status=ok value="still_here"
# The attacker wants the runtime to write its result into a file.
import os

fd = os.open("trap", os.O_RDWR | os.O_CREAT)
for number in (3, 4, 5, 63):
    try:
        os.dup2(fd, number)
    except OSError:
        pass
os.closerange(0, 1024)
"still_here"
