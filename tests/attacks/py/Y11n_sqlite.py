# expect: status=memory_limit|exception limits: wall_ms=2000 memory_mb=64
# The attacker wants all memory by a database in memory.
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("create table t (b)")
while True:
    db.execute("insert into t values (zeroblob(10000000))")
