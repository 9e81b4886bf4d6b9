"""An agent whose tool runs JavaScript, with the classes that users of jsrun know.

The model here is a list of what a model could have said; a framework would ask a real one.
"""

import asyncio

from vial.jsrun import JavaScriptError, Runtime, RuntimeConfig

ORDERS = [{"product": "Widget", "count": 10, "price": 25.5}, {"product": "Gadget", "count": 5, "price": 45.0}]

MODEL_SAYS = [
    "orders.list.reduce((sum, o) => sum + o.count * o.price, 0)",
    "discount(orders.list[0].price)",
    "orders.map(o => o.price)",
    "while (true) {}",
    "const kept = []; while (true) kept.push(new Uint8Array(1e6).fill(1));",
]


async def run_javascript(code: str) -> str:
    try:
        with Runtime(RuntimeConfig(max_heap_size=32 * 1024 * 1024)) as runtime:
            runtime.bind_object("orders", {"list": ORDERS})

            @runtime.bind
            def discount(price):
                return round(price * 0.9, 2)

            return f"result: {await runtime.eval_async(code, timeout=1.0)}"
    except TimeoutError:
        return "error: it took longer than a second"
    except JavaScriptError as error:
        return f"error: {error.name}"
    except RuntimeError as error:
        return f"error: {str(error).partition(':')[0]}"


async def main():
    for code in MODEL_SAYS:
        print(await run_javascript(code))


asyncio.run(main())
