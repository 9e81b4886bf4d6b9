# Waits for several things at once.
import asyncio


async def work(n):
    await asyncio.sleep(0.001 * n)
    return n * n


async def main():
    return await asyncio.gather(*(work(n) for n in range(4)))


print(asyncio.run(main()))
