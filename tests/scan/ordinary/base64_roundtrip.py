# Bytes as text.
import base64
import hashlib

data = "grüße".encode()
encoded = base64.b64encode(data).decode()
print(encoded, base64.b64decode(encoded).decode(), hashlib.sha256(data).hexdigest()[:8])
