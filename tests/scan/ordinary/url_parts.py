# Parts of URLs.
from urllib.parse import parse_qs, urlencode, urlsplit

parts = urlsplit("https://example.com/search?q=a+b&page=2")
query = {key: values[0] for key, values in parse_qs(parts.query).items()}
query["page"] = int(query["page"]) + 1
print(parts.netloc, urlencode(query))
