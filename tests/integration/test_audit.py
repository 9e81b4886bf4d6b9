"""test_audit.py - `vial audit`: lists, exports that others can check, tampering that is found, retention; a full
disk, a locked and a newer database.
"""

import hashlib
import json
import sqlite3
import subprocess

import pytest


@pytest.fixture
def audit(vial, folder):
    """Calls `vial audit`, or another command, with a data directory of its own."""
    folder.chmod(0o777)

    def call(*args, command="audit"):
        return vial(command, *args, "--data-dir", folder / "data")

    def change(sql):
        db = sqlite3.connect(folder / "data" / "audit.db")
        db.executescript(sql)
        db.commit()
        db.close()

    call.directory = folder / "data"
    call.change = change
    return call


def record(audit, count):
    """Makes that many records, each of a new key; their ids."""
    return [audit("create", "--scope", "run", command="key").stdout.split("_")[1] for _ in range(count)]


@pytest.mark.everyone
def test_every_change_of_environments_and_secrets_is_recorded(audit, folder):
    """By commands; the API's are in test_serve_auth.py. Names and versions are there, values and documents are not."""
    document = folder / "e.json"
    document.write_text(json.dumps({"name": "shop", "prefix": "const hidden = 'document words'"}))
    (folder / "value").write_text("a value nobody sees")
    steps = [("env", "create", document), ("env", "update", document), ("env", "delete", "shop@1"), ("env", "delete", "shop", "--force"),
             ("secret", "set", "TOKEN", "--file", folder / "value"), ("secret", "rotate"), ("secret", "delete", "TOKEN")]
    for command, *args in steps:
        done = audit(*args, command=command)
        assert done.returncode == 0, (command, args, done.stderr)
    assert audit("create", document, command="env").returncode == 0 and audit("create", document, command="env").returncode == 1 # not made: not recorded
    assert audit("delete", "NONE", command="secret").returncode != 0
    got = [json.loads(line)["record"] for line in audit("export", "--kind", "change").stdout.splitlines()]
    assert [(r["what"], r.get("environment") or r.get("detail")) for r in got] == [
        ("environment.create", "shop@1"), ("environment.update", "shop@2"), ("environment.delete", "shop@1"), ("environment.delete", "shop"),
        ("secret.set", "TOKEN"), ("secret.rotate", None), ("secret.delete", "TOKEN"), ("environment.create", "shop@3")]
    assert {r["agent"] for r in got} == {"vial env", "vial secret"} and all(r["from"].startswith("uid ") and r["status"] == "ok" for r in got)
    text = json.dumps(got)
    assert "nobody sees" not in text and "document words" not in text
    assert audit("verify").returncode == 0


@pytest.mark.everyone
def test_what_cannot_be_recorded_is_not_changed(audit, folder):
    """An audit of a newer vial, or one that is no database, stops the change before it is made."""
    document = folder / "e.json"
    document.write_text(json.dumps({"name": "shop"}))
    record(audit, 1)
    audit.change("PRAGMA user_version = 999")
    done = audit("create", document, command="env")
    assert done.returncode not in (0, 1) and "newer" in done.stderr
    assert audit("show", "shop", command="env").returncode == 1
    (folder / "value").write_text("0123456789")
    assert audit("set", "TOKEN", "--file", folder / "value", command="secret").returncode not in (0, 1)
    assert json.loads(audit("list", "--json", command="secret").stdout) == []


@pytest.mark.everyone
def test_list_and_filters(audit):
    ids = record(audit, 3)
    lines = [json.loads(line) for line in audit("list", "--json").stdout.splitlines()]
    assert [line["record"]["key"] for line in lines] == ids[::-1]
    assert [json.loads(line)["seq"] for line in audit("list", "--json", "--key", ids[1]).stdout.splitlines()] == [2]
    assert audit("list", "--kind", "run").stdout == ""
    assert len(audit("list", "--agent", "vial key", "--status", "ok", "--kind", "change").stdout.splitlines()) == 3
    assert len(audit("list", "--from", "1h").stdout.splitlines()) == 3
    assert audit("list", "--until", "1h").stdout == ""
    assert audit("list", "--from", "2999-01-01").stdout == ""
    assert audit("list", "--environment", "crm").stdout == ""
    assert "key.create" in audit("list").stdout


def test_pages(audit):
    ids = record(audit, 3)
    first = audit("list", "--limit", "2", "--json")
    assert first.stderr == "There are more; go on with --cursor a2\n"
    second = audit("list", "--limit", "2", "--json", "--cursor", "a2")
    assert second.stderr == ""
    keys = [json.loads(line)["record"]["key"] for line in (first.stdout + second.stdout).splitlines()]
    assert keys == ids[::-1]


def test_others_can_check_an_export(audit):
    """As docs/audit.md says it is done, from the lines alone."""
    record(audit, 4)
    lines = audit("export").stdout.splitlines()
    previous = "0" * 64
    for number, line in enumerate(lines, 1):
        whole = json.loads(line)
        text = line[line.index('"record":') + len('"record":'):-1]
        assert whole["seq"] == whole["record"]["seq"] == number
        assert whole["prev"] == previous
        previous = hashlib.sha256(f"vial-audit-1\n{previous}\n{text}".encode()).hexdigest()
        assert whole["hash"] == previous
    assert audit("head").stdout == f"{len(lines)}:{previous}\n"


@pytest.mark.parametrize("sql, fault, seq", [
    ("UPDATE audit SET record = replace(record, 'scopes run', 'scopes env') WHERE seq = 3", "changed", 3),
    ("UPDATE audit SET key = 'x' WHERE seq = 2", "changed", 2),
    ("DELETE FROM audit WHERE seq = 2", "missing", 2),
    ("DELETE FROM audit WHERE seq = 5", "truncated", 5),
    ("UPDATE audit SET seq = 9 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3;"
     "UPDATE audit SET seq = 3 WHERE seq = 9", "reordered", 2),
    ("UPDATE audit SET record = substr(record, 1, 30) WHERE seq = 4", "torn", 4),
    ("INSERT INTO anchor SELECT 1, seq, hash FROM audit WHERE seq = 1; DELETE FROM audit WHERE seq = 1", "anchor", 1),
])
def test_tampering_is_found(audit, sql, fault, seq):
    record(audit, 5)
    done = audit("verify")
    assert (done.returncode, done.stdout) == (0, "5 records, from 1 to 5, and nothing is wrong\n")
    audit.change(sql)
    done = audit("verify", "--json")
    verdict = json.loads(done.stdout)
    assert done.returncode == 1
    assert (verdict["ok"], verdict["fault"], verdict["seq"]) == (False, fault, seq)
    done = audit("verify")
    assert (done.returncode, done.stdout) == (1, "") and f"({fault})" in done.stderr


def test_a_head_kept_elsewhere(audit):
    record(audit, 2)
    head = audit("head").stdout.strip()
    record(audit, 2)
    assert audit("verify", "--head", head).returncode == 0
    other = head.split(":")[0] + ":" + "0" * 64
    done = audit("verify", "--head", other)
    assert done.returncode == 1 and "record 2 is not the one that was kept" in done.stderr
    done = audit("verify", "--head", "9" + head[1:])
    assert done.returncode == 1 and "truncated" in done.stderr
    assert audit("verify", "--head", "nonsense").returncode == 2


def test_retention(audit):
    ids = record(audit, 6)
    assert audit("prune", "--older", "90d").stdout == "removed 0 records\n"
    assert audit("prune", "--keep", "3").stdout == "removed 4 records\n"
    assert audit("verify").stdout == "3 records, from 5 to 7, and nothing is wrong\n"
    records = [json.loads(line)["record"] for line in audit("export").stdout.splitlines()]
    assert [r.get("key") for r in records] == ids[4:] + [None]
    assert (records[-1]["kind"], records[-1]["removed_until"]) == ("retention", 4)
    record(audit, 1)
    assert audit("verify").returncode == 0


def test_a_locked_database_can_be_read(audit):
    record(audit, 2)
    db = sqlite3.connect(audit.directory / "audit.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    assert audit("verify").returncode == 0
    done = audit("create", "--scope", "run", command="key")  # waits, then says so, and makes no key
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    db.execute("ROLLBACK")
    states = [row["state"] for row in json.loads(audit("list", "--json", command="key").stdout)]
    assert states == ["good", "good", "revoked"]
    assert audit("verify").returncode == 0


def test_a_full_disk(audit, vial, folder):
    """A small file system of its own, filled to the last byte: no key is made that is not recorded, and afterwards
    all is whole.
    """
    record(audit, 1)
    script = f"""
mount -t tmpfs -o size=600k,mode=0700 tmpfs {audit.directory} || exit 77
cd {audit.directory} || exit 77
V="$1"
"$V" key create --scope run --data-dir . > /dev/null || exit 1
cat /dev/zero > filler 2> {folder}/ignored
"$V" key create --scope run --data-dir . > {folder}/token && exit 2
"$V" audit verify --data-dir . && exit 3
[ -s {folder}/token ] && exit 4
rm filler
"$V" audit verify --data-dir . || exit 5
"$V" key create --scope run --data-dir . > /dev/null || exit 6
"$V" audit verify --data-dir . || exit 7
"""
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", str(vial.directory / "vial")],
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no mount of a tmpfs is allowed here: " + done.stderr.strip())
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.count("the disk of the store is full") == 2
    assert done.stdout == ("1 record, from 1 to 1, and nothing is wrong\n"
                           "2 records, from 1 to 2, and nothing is wrong\n")


def test_a_newer_database(audit):
    record(audit, 1)
    audit.change("PRAGMA user_version = 2")
    for command in (["list"], ["verify"], ["export"], ["head"], ["prune", "--keep", "1"]):
        done = audit(*command)
        assert (done.returncode, done.stdout) == (125, "")
        assert "newer vial (its schema is 2, this one knows 1)" in done.stderr


def test_nothing_was_recorded(audit):
    for command in (["list"], ["verify"], ["export"], ["head"], ["prune", "--keep", "1"]):
        done = audit(*command)
        assert (done.returncode, done.stdout) == (1, "")
        assert "nothing was recorded in " in done.stderr
    assert not audit.directory.exists()


def test_an_output_that_is_full(audit, vial):
    record(audit, 2)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(vial.command("audit", "export", "--data-dir", audit.directory),
                              stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 125 and "cannot write" in done.stderr


@pytest.mark.parametrize("args, words", [
    ([], "needs a command"),
    (["show"], "there is no command"),
    (["list", "--kind", "runs"], "there is no kind"),
    (["list", "--limit", "0"], "from 1 to 1000"),
    (["list", "--limit", "1001"], "from 1 to 1000"),
    (["list", "--from", "yesterday"], "--from takes a time"),
    (["list", "--older", "5d"], "does not take"),
    (["verify", "--key", "a"], "does not take"),
    (["verify", "--head", "5"], "NUMBER:HASH"),
    (["prune"], "--older, --keep, or both"),
    (["prune", "--keep", "0"], "from 1 on"),
    (["list", "--agnet", "x"], "did you mean --agent?"),
    (["list", "a"], "too many words"),
    (["list", "--key", "a", "--key", "b"], "given twice"),
])
def test_what_a_command_line_says_wrong(audit, args, words):
    done = audit(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_bad_cursor(audit):
    record(audit, 1)
    done = audit("list", "--cursor", "nonsense")
    assert done.returncode == 2 and "no cursor" in done.stderr


def test_help(vial):
    done = vial("audit", "--help")
    assert done.returncode == 0 and "verify" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
