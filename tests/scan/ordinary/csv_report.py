# Reads a table and makes a report of it.
import csv
import io

text = "name,score\nann,3\nbo,5\n"
rows = list(csv.DictReader(io.StringIO(text)))
best = max(rows, key=lambda row: int(row["score"]))
print(f"{best['name']} has {best['score']} of {sum(int(r['score']) for r in rows)}")
