# A consumer that ends with its last item.
import asyncio


async def consumer(queue, seen):
    while True:
        item = await queue.get()
        if item is None:
            break
        seen.append(item)


async def main():
    queue, seen = asyncio.Queue(), []
    for item in [1, 2, 3, None]:
        queue.put_nowait(item)
    await consumer(queue, seen)
    return seen


asyncio.run(main())
