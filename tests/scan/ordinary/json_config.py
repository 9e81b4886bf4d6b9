# Settings with their defaults.
import json

DEFAULTS = {"retries": 3, "timeout": 10.0, "hosts": ["a.example", "b.example"]}
given = json.loads('{"timeout": 2.5}')
config = {**DEFAULTS, **given}
print(json.dumps(config, indent=2, sort_keys=True))
