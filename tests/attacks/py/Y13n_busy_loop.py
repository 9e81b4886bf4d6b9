# expect: status=wall_limit limits: wall_ms=120
# The attacker wants an event loop that is never idle.
import asyncio

while True:
    await asyncio.sleep(0)
