"""Keeps a program's state, tries several ways from one point, and prepares an environment once."""

import vial

with vial.Session(lang="python") as session:
    session.eval("rows = [3, 1, 2]")
    for code in ("sorted(rows)", "rows.clear() or rows", "rows[10]"):
        with session.branch() as branch:
            result = branch.eval(code)
            print(code, "->", result.value if result.ok else result.error)
    print("still", session.eval("rows").value)

with vial.Environment(prefix="const rates = { USD: 1.08 }; const convert = (n, to) => n * rates[to];") as environment:
    print(environment.run("convert(100, 'USD')").value)
