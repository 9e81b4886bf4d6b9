# expect: status=ok value=""
# The attacker wants to open, list or test files and trees of the host.
import os

paths = ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/resolv.conf", "/proc", "/proc/self", "/proc/self/environ", "/proc/1/root",
    "/proc/self/mem", "/proc/self/maps", "/proc/self/fd/3", "/proc/sysrq-trigger", "/sys", "/sys/kernel", "/dev/mem",
    "/dev/kmsg", "/dev/kvm", "/dev/shm", "/dev/pts", "/dev/tty", "/dev/fd/3", "/root", "/root/.ssh", "/work", "/var", "/bin/sh",
    "/usr/bin/python3", "/usr/bin", "/usr/lib/python3", "/usr/lib/python3/dist-packages", "/usr/lib/x86_64-linux-gnu",
    "/usr/share/doc", "/lib64/ld-linux-x86-64.so.2", "/boot", "/run", "/tmp/../etc/passwd", "/usr/../etc/passwd",
    "//etc/passwd", "/home/vial/../../etc/passwd", "../../../../../../etc/passwd", "/usr/lib/python3.11/../../../etc/passwd"]
found = []
for path in paths:
    for attempt in (os.stat, os.lstat, os.listdir, os.scandir, lambda p: open(p).read(1), os.readlink, os.chdir, os.statvfs):
        try:
            attempt(path)
            found.append(path)
            break
        except OSError:
            pass
",".join(found)
