# Makes files and counts them by their ending.
from collections import Counter
from pathlib import Path

base = Path("out")
base.mkdir(exist_ok=True)
for name in ("a.txt", "b.txt", "c.csv"):
    (base / name).write_text(name)
print(Counter(p.suffix for p in sorted(base.rglob("*")) if p.is_file()))
