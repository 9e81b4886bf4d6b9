# expect: status=exception|memory_limit|ok|wall_limit limits: wall_ms=2000 memory_mb=96
# The attacker wants entities in entities to become a terabyte.
import xml.etree.ElementTree as tree

lines = ['<!ENTITY a0 "' + "x" * 100 + '">'] + [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 15)]
text = "<!DOCTYPE x [" + "".join(lines) + '<!ENTITY file SYSTEM "file:///etc/passwd">]><x>&a14;&file;</x>'
len(tree.fromstring(text).text)
