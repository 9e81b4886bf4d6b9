"""report.py - a report on customers: calls tools of the host, several at once, and returns values.

vial run --tools examples/tools.json --input '{"ids": [1, 2]}' examples/report.py
"""
import asyncio
from collections import Counter
from dataclasses import dataclass


@dataclass
class Line:
    id: int
    name: str | None
    problem: str | None = None


async def look_up(id):
    try:
        customer = await crm.find_async(id=id, orders=True)
    except ToolError as error:
        return Line(id, None, error.fields["stderr"].strip())
    return Line(id, customer["name"])


lines = await asyncio.gather(*[look_up(id) for id in input["ids"]])
print(f"looked up {len(lines)} customers; the tax is {vat()} percent")
{"names": [line.name for line in lines], "problems": dict(Counter(line.problem for line in lines if line.problem))}
