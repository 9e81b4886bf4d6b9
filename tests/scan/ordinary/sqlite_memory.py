# A table in memory.
import sqlite3

db = sqlite3.connect(":memory:")
db.executescript("create table t(name text, n int); insert into t values('a', 1), ('b', 2);")
db.execute("insert into t values (?, ?)", ("c", 3))
print(db.execute("select sum(n), count(*) from t").fetchone())
