# expect: py-slow-regex
import re
print(re.match(r"^([a-z]+)*$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"))
