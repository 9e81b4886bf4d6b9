# Sums by key.
from collections import defaultdict

rows = [("food", 12.5), ("rent", 900), ("food", 7.25)]
totals = defaultdict(float)
for name, amount in rows:
    totals[name] += amount
print(sorted(totals.items(), key=lambda item: -item[1]))
