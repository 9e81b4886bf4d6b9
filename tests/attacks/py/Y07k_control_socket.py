# expect: status=ok value=0
# The attacker wants to speak to the host on the cell's own socket, or to close it.
import fcntl
import mmap
import os
import sys
import termios

forged = bytes.fromhex("0000000007000000")
attempts = [
    lambda: os.write(3, forged), lambda: os.read(3, 1), lambda: os.close(3), lambda: os.fstat(3), lambda: os.dup(3),
    lambda: os.dup2(3, 9), lambda: fcntl.fcntl(3, fcntl.F_GETFL), lambda: fcntl.fcntl(3, fcntl.F_DUPFD, 10),
    lambda: fcntl.ioctl(3, termios.FIONREAD, bytes(4)), lambda: os.fdopen(3, "wb"), lambda: open(3, "wb", buffering=0),
    lambda: open("/dev/fd/3", "wb"), lambda: open("/proc/self/fd/3", "wb"), lambda: os.pread(3, 1, 0), lambda: os.lseek(3, 0, 0),
    lambda: os.writev(3, [forged]), lambda: os.readv(3, [bytearray(8)]), lambda: os.sendfile(3, 0, 0, 8),
    lambda: os.splice(0, 3, 8), lambda: os.ftruncate(3, 0), lambda: os.fsync(3),
    lambda: mmap.mmap(3, 4096), lambda: os.isatty(3) or 1 / 0, lambda: os.ttyname(3), lambda: os.fchdir(3), lambda: os.posix_fallocate(3, 0, 1),
    lambda: os.set_blocking(3, False), lambda: os.set_inheritable(3, True), lambda: os.get_blocking(3), lambda: os.tcgetpgrp(3),
]
done = 0
for attempt in attempts:
    try:
        attempt()
        done += 1
    except (OSError, ZeroDivisionError):
        pass
done
