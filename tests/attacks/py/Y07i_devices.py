# expect: status=ok value=0
# The attacker wants devices, pipes and sockets among its files.
import os
import stat

done = 0
for mode in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK):
    for device in (os.makedev(1, 1), os.makedev(1, 5), 0):
        try:
            os.mknod("node", mode | 0o666, device)
            done += 1
        except OSError:
            pass
for attempt in (lambda: os.mkfifo("fifo"), os.pipe, os.openpty, lambda: os.eventfd(0), lambda: os.setxattr(".", "user.x", b"1"),
        lambda: os.chown(".", 0, 0), lambda: os.open("/dev/tty", os.O_RDWR), lambda: os.open(".", os.O_TMPFILE | os.O_RDWR)):
    try:
        attempt()
        done += 1
    except OSError:
        pass
done
