# expect: status=ok value=0
# The attacker wants a socket of any family and kind.
import sys

socket = sys.modules.get("socket") or sys.modules["_vial.imports"].plain_import("socket")
made = 0
for family in range(46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind, 0)
            made += 1
        except OSError:
            pass
for attempt in (socket.socketpair, lambda: socket.create_server(("", 0)), lambda: socket.fromfd(3, 1, 1)):
    try:
        attempt()
        made += 1
    except OSError:
        pass
made
