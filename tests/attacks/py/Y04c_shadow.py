# expect: status=ok value="shadowed"
# The attacker wants the next run to import its json, by a file of that name in front of the library.
import os
import sys

for name in ("json", "sitecustomize", "usercustomize", "asyncio", "threading"):
    with open(f"{name}.py", "w") as file:
        file.write("evil = 'shadowed'")
os.makedirs("__pycache__", exist_ok=True)
sys.path[:] = ["/home/vial"]
del sys.modules["json"]
import json
json.evil
