# expect: status=ok value=""
# The attacker wants to wait on descriptors that are not its own, or for ever on many.
import select
import sys

attempts = {
    "epoll": lambda: select.epoll().close(),
    "select": lambda: select.select([3], [], [], 0)[0] and 1,
    "many": lambda: select.select(range(1023), [], [], 0),
    "negative": lambda: select.select([-1], [], [], 0),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except (OSError, ValueError):
        pass
",".join(done)
