# Days of a month.
from datetime import date, timedelta

start = date(2025, 2, 1)
days = []
while start.month == 2:
    days.append(start.isoformat())
    start += timedelta(days=1)
print(len(days), days[-1])
