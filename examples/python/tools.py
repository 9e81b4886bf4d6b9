"""Gives a program functions of Python, plain and async, and follows it as it runs."""

import asyncio

import vial

CUSTOMERS = {1: "Ada", 2: "Grace"}


def find(id: int) -> str:
    """Finds the name of a customer.

    Args:
        id: The number of the customer.
    """
    return CUSTOMERS[id]


@vial.tool(name="shop.refund", approve=True)
async def refund(order: str, cents: int) -> dict:
    """Pays an order back."""
    await asyncio.sleep(0.01)
    return {"order": order, "paid": cents}


PROGRAM = """
const names = await Promise.all([1, 2, 3].map(id => find(id).catch(error => error.name)));
console.log(names.join(', '));
await shop.refund({ order: 'A-1', cents: 995 });
"""


async def main():
    async def approve(name, args):
        return args["cents"] < 1000

    run = vial.start(PROGRAM, tools=[find, refund], approve=approve)
    async for event in run.events():
        if event.type == "result":
            print(event.data.status, event.data.value)
            print([(call["name"], call["status"]) for call in event.data.calls])
        elif event.type == "stdout":
            print("printed:", event.data.strip())


asyncio.run(main())
