# expect: status=ok|exception|crashed
# The attacker wants the value to be written by functions that it replaced.
import decimal
import json
import math
import re

for module in (json, json.encoder, json.decoder, re, math, decimal):
    for name in list(vars(module)):
        if not name.startswith("__"):
            setattr(module, name, lambda *args, **named: '{"forged": true}\n' * 3)
{"a": [1, 2.5, "x"]}
