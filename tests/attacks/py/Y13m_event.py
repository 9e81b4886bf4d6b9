# expect: status=wall_limit|exception limits: wall_ms=120
# The attacker wants to wait for an event that nobody sets, and for a loop that nobody stops.
import asyncio

await asyncio.Event().wait()
