"""test_key.py - `vial key`: keys that are shown once, listed without their secrets, and revoked; what is recorded of
it; and all that a command line can say wrong.
"""

import json
import os
import re
import sqlite3

import pytest

TOKEN = re.compile(r"vial_[0-9a-hjkmnp-tv-z]{12}_[0-9a-hjkmnp-tv-z]{52}")


@pytest.fixture
def key(vial, folder):
    """Calls `vial key`, or another command, with a data directory of its own."""
    folder.chmod(0o777)

    def call(*args, command="key"):
        return vial(command, *args, "--data-dir", folder / "data")

    call.directory = folder / "data"
    return call


@pytest.mark.everyone
def test_create_list_revoke(key):
    done = key("create", "--scope", "run,session", "--quota", "concurrent=2,sessions=0", "--name", "ci", "--expires",
               "30d")
    assert done.returncode == 0, done.stderr
    token = done.stdout.strip()
    assert TOKEN.fullmatch(token)
    assert done.stderr == "This is the only time that the key is shown:\n"
    one = token.split("_")[1]
    made = json.loads(key("create", "--scope", "admin", "--json").stdout)
    assert TOKEN.fullmatch(made["token"]) and made["id"] == made["token"].split("_")[1]
    rows = json.loads(key("list", "--json").stdout)
    assert [(row["id"], row["name"], row["scopes"], row["state"]) for row in rows] == [
        (one, "ci", "run,session", "good"), (made["id"], "", "admin", "good")]
    assert rows[0]["quota"] == {"concurrent": 2, "runs_per_minute": 600, "cpu_seconds_per_day": 3600, "sessions": 0}
    assert rows[0]["expires"] > rows[0]["created"] and rows[1]["expires"] is None
    assert key("revoke", one).stdout == f"revoked {one}\n"
    assert key("revoke", one).returncode == 0
    rows = json.loads(key("list", "--json").stdout)
    assert [row["state"] for row in rows] == ["revoked", "good"] and rows[0]["revoked"]
    table = key("list").stdout
    assert re.search(rf"^{one} +revoked +run,session ", table, re.MULTILINE)
    # The secrets are in none of the files, nor in what was recorded.
    for path in key.directory.iterdir():
        for shown in (token, made["token"]):
            assert shown.split("_")[2].encode() not in path.read_bytes()


def test_changes_are_recorded(key):
    one = key("create", "--scope", "env", "--name", "a b").stdout.split("_")[1]
    key("revoke", one)
    lines = [json.loads(line)["record"] for line in key("export", command="audit").stdout.splitlines()]
    assert [(line["kind"], line["what"], line["key"], line["from"]) for line in lines] == [
        ("change", "key.create", one, f"uid {os.getuid()}"), ("change", "key.revoke", one, f"uid {os.getuid()}")]
    assert "scopes env" in lines[0]["detail"] and "a b" in lines[0]["detail"]
    assert key("verify", command="audit").returncode == 0


def test_a_key_that_cannot_be_recorded_is_not_made(key):
    assert key("create", "--scope", "run").returncode == 0
    db = sqlite3.connect(key.directory / "audit.db")
    db.execute("PRAGMA user_version = 9")
    db.commit()
    db.close()
    done = key("create", "--scope", "run")
    assert (done.returncode, done.stdout) == (125, "")
    assert "newer vial" in done.stderr
    assert len(json.loads(key("list", "--json").stdout)) == 1


def test_a_store_of_a_newer_vial(key):
    key("create", "--scope", "run")
    db = sqlite3.connect(key.directory / "store.db")
    db.execute("UPDATE key_state SET schema = 2")
    db.commit()
    db.close()
    done = key("list")
    assert done.returncode == 125
    assert "the keys were written by a newer vial (their schema is 2, this one knows 1)" in done.stderr


def test_no_keys(key):
    done = key("list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "There are no keys" in done.stderr
    assert key("list", "--json").stdout == "[]\n"


@pytest.mark.parametrize("args, words", [
    ([], "needs a command"),
    (["make"], "there is no command"),
    (["create"], "needs --scope"),
    (["create", "--scope", "root"], "run, session, env and admin"),
    (["create", "--scope", "run,"], "run, session, env and admin"),
    (["create", "--scope", "run", "--quota", "sesions=1"], "did you mean sessions?"),
    (["create", "--scope", "run", "--quota", "sessions"], "NAME=NUMBER"),
    (["create", "--scope", "run", "--quota", "concurrent=10001"], "at most 10000"),
    (["create", "--scope", "run", "--expires", "30"], "--expires takes"),
    (["create", "--scope", "run", "--expires", "0d"], "--expires takes"),
    (["create", "--scope", "run", "--name", "x" * 65], "up to 64 bytes"),
    (["create", "--scope", "run", "--name", "a\nb"], "control characters"),
    (["create", "--scope", "run", "--scope", "env"], "given twice"),
    (["create", "--scop", "run"], "did you mean --scope?"),
    (["create", "name", "--scope", "run"], "usage: vial key create"),
    (["revoke"], "usage: vial key revoke ID"),
    (["revoke", "a", "--json"], "takes no --json"),
    (["list", "--scope", "run"], "takes no --scope"),
])
def test_what_a_command_line_says_wrong(key, args, words):
    done = key(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_no_such_key(key):
    for word in ("000000000000", "nonsense", "a" * 300):
        done = key("revoke", word)
        assert (done.returncode, done.stdout) == (1, "")
        assert "there is no key" in done.stderr


def test_help(vial):
    done = vial("key", "--help")
    assert done.returncode == 0 and "--quota" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
