# Words of a text.
import re
from collections import Counter

text = """It was the best of times, it was the worst of times."""
words = re.findall(r"[a-z']+", text.lower())
for word, count in Counter(words).most_common(3):
    print(f"{word:<6} {'#' * count}")
