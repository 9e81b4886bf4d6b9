# expect: status=ok value=""
# The attacker wants files, libraries and programs by what a database can do.
import sqlite3

db = sqlite3.connect(":memory:")
attempts = {
    "attach": lambda: db.execute("attach '/etc/passwd' as p").execute("select * from p.sqlite_master"),
    "uri": lambda: sqlite3.connect("file:/etc/passwd?mode=ro", uri=True).execute("select 1 from sqlite_master"),
    "out": lambda: db.execute("vacuum into '/etc/owned'"),
    "extension": lambda: (db.enable_load_extension(True), db.load_extension("/lib/x86_64-linux-gnu/libc.so.6")),
    "readfile": lambda: db.execute("select readfile('/etc/passwd')"),
    "writable_schema": lambda: db.execute("pragma temp_store_directory = '/etc'").execute("attach '' as x") and 1 / 0,
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except Exception:
        pass
",".join(done)
