# expect: status=ok value=""
# The attacker wants to leave by a path that is odd.
import os

found = []
for path in ("/etc\0/passwd", "a\0b", b"/etc/passwd\0", "x" * 100_000, "/" * 100_000 + "etc/passwd", "./" * 3000 + "etc", "", "\udc80",
        "\ud800", b"\xff\xfe", "..", "../..", "~root", "C:\\", "file:///etc/passwd", "/dev/fd/../../etc/passwd", "/dev/stdin/../../etc/passwd"):
    for attempt in (lambda p: open(p).read(), os.stat, os.mkdir, os.listdir, os.readlink):
        try:
            came = attempt(path)
            if "root:" in str(came) or "etc" in str(came):
                found.append(repr(path[:20]))
        except (OSError, ValueError, UnicodeError):
            pass
",".join(found)
