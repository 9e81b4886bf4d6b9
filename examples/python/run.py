"""Runs programs: values, errors, limits, files, Python."""

import vial

result = vial.run("input.rows.map(x => x * x)", input={"rows": [1, 2, 3]})
print(result.status, result.value)

result = vial.run("console.log('thinking'); undefined_name + 1")
print(result.status, result.stdout.strip(), "|", result.error)

result = vial.run("for (;;);", timeout=0.2)
print(result.status, "|", result.error.message)

result = vial.run("sum(int(line) for line in open('numbers.txt'))", lang="python", files={"numbers.txt": "1\n2\n3\n"})
print(result.value)

print(vial.run("2n ** 100n").value == 2**100, vial.run("new Map([['a', new Set([1])]])").value)
