# expect: py-network-client
import requests
print(requests.get("https://example.com").status_code)
