# expect: status=wall_limit limits: wall_ms=120
# The attacker wants a query that never ends, in a thread without the interpreter's lock.
import sqlite3

sqlite3.connect(":memory:").execute("with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c").fetchall()
