# Finds addresses, dates and numbers.
import re

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
DATE = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})")
text = "ann@example.com wrote on 2025-03-14 about 1,250.50 EUR"
found = {
    "emails": EMAIL.findall(text),
    "dates": [m.groupdict() for m in DATE.finditer(text)],
    "amounts": re.findall(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?", text),
}
print(found)
