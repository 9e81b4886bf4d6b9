# expect: status=ok value=0
# The attacker wants the cell's own socket as an object, to send and receive with.
import sys

socket = sys.modules.get("socket") or sys.modules["_vial.imports"].plain_import("socket")
done = 0
for fd in (0, 1, 2, 3, 4):
    try:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=fd)
    except OSError:
        continue
    attempts = [
        lambda: s.send(b"x" * 16), lambda: s.recv(1, socket.MSG_DONTWAIT), lambda: s.sendmsg([b"x"]),
        lambda: s.recvmsg(10, 100, socket.MSG_DONTWAIT), lambda: s.shutdown(2), lambda: s.getpeername(),
        lambda: s.setsockopt(1, 7, 1), lambda: s.getsockopt(1, 17), lambda: s.accept(),
        lambda: s.bind("\0x"), lambda: s.connect("\0x"), lambda: s.listen(),
    ]
    for attempt in attempts:
        try:
            attempt()
            done += 1
        except OSError:
            pass
    s.detach()
done
