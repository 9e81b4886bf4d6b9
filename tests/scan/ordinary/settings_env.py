# Settings from variables, with placeholders.
import os

API_KEY = os.environ.get("API_KEY", "")
password = os.getenv("DB_PASSWORD") or "change-me-please"
secret_name = "projects/demo/settings"
config = {"token": "<your token>", "user": "ann"}
print(bool(API_KEY), len(password), sorted(config))
