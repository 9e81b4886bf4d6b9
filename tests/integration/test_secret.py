"""test_secret.py - `vial secret`: values that are kept, never shown, and found with the right key only; the
terminal, other users, other processes, and all that a command line can say wrong.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import sqlite3
import stat
import subprocess
import termios
import time

import pytest

VALUE = "hunter2-correct-horse"


@pytest.fixture
def secret(vial, folder):
    """Calls `vial secret` with a data directory of its own; a value goes to its stdin."""
    folder.chmod(0o777)

    def call(*args, value="", env=None, **more):
        clean = {k: v for k, v in os.environ.items() if k not in ("VIAL_SECRET_KEY_FILE", "CREDENTIALS_DIRECTORY")}
        done = vial("secret", *args, "--data-dir", folder / "data", stdin=value, env={**clean, **(env or {})}, **more)
        assert VALUE not in done.stdout + done.stderr
        return done

    call.directory = folder / "data"
    call.vial = vial
    return call


def files_with(directory, text):
    return [path.name for path in directory.iterdir() if text.encode() in path.read_bytes()]


def put_key(path, byte=b"k", mode=0o600):
    path.write_bytes(byte * 32)
    path.chmod(mode)
    return path


# ---- the life of a secret ----

@pytest.mark.everyone
def test_set_list_delete(secret):
    done = secret("set", "TOKEN", value=VALUE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stored TOKEN (version 1, 21 bytes)\n", "")
    assert secret("set", "TOKEN", value=VALUE + "!").stdout == "stored TOKEN (version 2, 22 bytes)\n"
    assert secret("set", "A", value=VALUE).returncode == 0
    rows = json.loads(secret("list", "--json").stdout)
    assert [(row["name"], row["version"], row["bytes"]) for row in rows] == [("A", 1, 21), ("TOKEN", 2, 22)]
    assert all(set(row) == {"name", "version", "created", "changed", "bytes"} for row in rows)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", rows[0]["changed"])
    lines = secret("list").stdout.splitlines()
    assert lines[0].split() == ["NAME", "VERSION", "CREATED", "CHANGED", "BYTES"]
    assert [line.split()[0] for line in lines[1:]] == ["A", "TOKEN"]
    assert secret("check").stdout == "2 secrets can be read, 0 cannot\n"
    assert secret("delete", "A").stdout == "deleted A\n"
    done = secret("delete", "A")
    assert (done.returncode, done.stderr) == (1, "vial: there is no secret A\n")
    assert stat.S_IMODE(secret.directory.stat().st_mode) == 0o700


def test_no_file_has_the_value(secret):
    assert secret("set", "TOKEN", value=VALUE).returncode == 0
    assert secret("rotate").stdout == "encrypted 1 secret with a new key\n"
    assert secret("set", "TOKEN", value=VALUE).returncode == 0
    assert files_with(secret.directory, "TOKEN") != []  # the search works
    assert files_with(secret.directory, VALUE) == []
    names = {path.name for path in secret.directory.iterdir()}
    assert {"secret.key", "store.db"} <= names and "secret.key.new" not in names
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in secret.directory.iterdir())


def test_an_empty_store(secret):
    done = secret("list")
    assert (done.returncode, done.stdout) == (0, "") and "vial secret set NAME" in done.stderr
    assert secret("list", "--json").stdout == "[]\n"
    assert secret("check").stdout == "0 secrets can be read, 0 cannot\n"
    assert not (secret.directory / "secret.key").exists()


def test_environments_and_secrets_share_a_directory(secret):
    assert secret.vial("env", "create", "-", "--data-dir", secret.directory, stdin='{"name": "a"}').returncode == 0
    assert secret("set", "TOKEN", value=VALUE).returncode == 0
    assert secret.vial("env", "list", "--data-dir", secret.directory).returncode == 0
    assert secret("check").returncode == 0


# ---- where a value comes from ----

def sizes(secret):
    return {row["name"]: row["bytes"] for row in json.loads(secret("list", "--json").stdout)}


def test_one_newline_is_left_out_and_said(secret, folder):
    done = secret("set", "A", value=VALUE + "\n")
    assert done.stderr == "vial: the newline at the end was left out\n"
    assert secret("set", "B", value=VALUE + "\r\n").stderr == done.stderr
    assert secret("set", "C", value=VALUE + "\n\n").stderr == done.stderr
    (folder / "value").write_text(VALUE + "\n")
    assert secret("set", "D", "--file", folder / "value").stderr == done.stderr
    assert secret("set", "E", "--env", "THE_VALUE", env={"THE_VALUE": VALUE + "\n"}).stderr == ""
    assert sizes(secret) == {"A": 21, "B": 21, "C": 22, "D": 21, "E": 22}


def test_sizes(secret):
    assert secret("set", "A", value="x" * 65536).returncode == 0
    assert secret("set", "A", value="x" * 65536 + "\n").returncode == 0
    for value in ["x" * 65537, "x" * 65537 + "\n", "x" * 200000, "", "\n"]:
        done = secret("set", "B", value=value)
        assert done.returncode == 2 and "value" in done.stderr and "xx" not in done.stderr
    assert "easily guessed" in secret("set", "C", value="1234567").stderr
    assert sizes(secret) == {"A": 65536, "C": 7}


def test_sources_that_are_none(secret, folder):
    for args, words in [(["--file", folder / "no"], "cannot read"), (["--file", folder], "directory"),
                        (["--env", "NOT_SET_HERE"], "no such variable"), (["--file"], "needs a value"),
                        (["--file", "a", "--env", "B"], "not from both"), (["--env", "A", "--env", "B"], "twice")]:
        done = secret("set", "A", *args) if args != ["--file"] else secret.vial("secret", "set", "A", "--file")
        assert done.returncode == 2 and words.lower() in done.stderr.lower(), (args, done.stderr)
        assert done.stderr.startswith("vial: ") and done.stderr.count("\n") == 1
    assert secret("list", "--json").stdout == "[]\n"


def test_a_value_on_the_command_line_is_refused_and_not_repeated(secret):
    for args in [["set", "A", VALUE], ["set", "A", "--" + VALUE], ["set", "A", "-" + VALUE], ["set", VALUE],
                 ["set", "A", "--value=" + VALUE], [VALUE], ["delete", VALUE], ["set", "A", "--json=" + VALUE]]:
        done = secret(*args)  # which looks for the value in the output
        assert done.returncode == 2 and done.stderr.count("\n") == 1, (args, done.stderr)
    assert "never taken from the command line" in secret("set", "A", VALUE).stderr


def test_bad_usage(secret):
    for args, words in [([], "needs a command"), (["show", "A"], "no such command"), (["set"], "usage: vial secret set NAME"),
                        (["list", "A"], "usage: vial secret list"), (["delete", "--json", "A"], "takes no --json"),
                        (["list", "--file", "x"], "takes no --file"), (["check", "--new-key-file", "x"], "takes no --new"),
                        (["set", "1A"], "begins with a letter"), (["set", "A" * 65], "1 to 64 bytes"),
                        (["set", ""], "1 to 64 bytes"), (["set", "a.b"], "only letters")]:
        done = secret(*args)
        assert done.returncode == 2 and words in done.stderr, (args, done.stderr)
        assert done.stderr.startswith("vial: ") and done.stderr.count("\n") == 1


def test_help(vial):
    done = vial("secret", "--help")
    assert done.returncode == 0 and done.stderr == ""
    for word in ["set NAME", "list", "delete NAME", "check", "rotate", "--key-file", "--data-dir", "CREDENTIALS_DIRECTORY"]:
        assert word in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert "secret" in vial("--help").stdout


# ---- the terminal ----

class Terminal:
    """`vial secret set` with a terminal for its stdin and output."""

    def __init__(self, secret, *args):
        self.fd, other = pty.openpty()
        self.other = other
        self.process = subprocess.Popen(secret.vial.command("secret", *args, "--data-dir", secret.directory), stdin=other,
                                        stdout=other, stderr=other, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.seen = ""

    def wait_for(self, text):
        end = time.monotonic() + 20
        while text not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 4096).decode()
        assert text in self.seen, self.seen

    def type(self, text):
        os.write(self.fd, text.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.other)[3] & termios.ECHO)

    def end(self):
        code = self.process.wait(20)
        while select.select([self.fd], [], [], 0.05)[0]:
            self.seen += os.read(self.fd, 4096).decode()
        assert self.echoes()  # it is as it was
        os.close(self.fd)
        os.close(self.other)
        return code


def test_a_terminal_is_asked_twice_and_shows_nothing(secret):
    terminal = Terminal(secret, "set", "TOKEN")
    terminal.wait_for("the value of TOKEN: ")
    assert not terminal.echoes()
    terminal.type(VALUE + "\n")
    terminal.wait_for("once more")
    terminal.type(VALUE + "\n")
    terminal.wait_for("stored TOKEN (version 1, 21 bytes)")
    assert terminal.end() == 0 and VALUE not in terminal.seen
    assert secret("check").returncode == 0


def test_two_different_values_are_none(secret):
    terminal = Terminal(secret, "set", "TOKEN")
    terminal.wait_for("the value of TOKEN: ")
    terminal.type(VALUE + "\n")
    terminal.wait_for("once more")
    terminal.type(VALUE + "x\n")
    assert terminal.end() == 2 and "two different values" in terminal.seen and VALUE not in terminal.seen
    assert secret("list", "--json").stdout == "[]\n"


def test_interrupting_gives_the_terminal_back(secret):
    for how in ["\x03", signal.SIGTERM]:
        terminal = Terminal(secret, "set", "TOKEN")
        terminal.wait_for("the value of TOKEN: ")
        terminal.type(VALUE)
        if isinstance(how, str):
            terminal.type(how)
        else:
            terminal.process.send_signal(how)
        assert terminal.end() == 130 and VALUE not in terminal.seen
    assert secret("list", "--json").stdout == "[]\n"


def test_a_line_that_the_terminal_would_cut_is_refused(secret):
    terminal = Terminal(secret, "set", "TOKEN")
    terminal.wait_for("the value of TOKEN: ")
    terminal.type("x" * 4095 + "\n")
    assert terminal.end() == 2 and "--file or through a pipe" in terminal.seen.replace("\r\n", " ")


# ---- keys ----

def test_where_the_key_is(secret, folder):
    key, other = put_key(folder / "a.key"), put_key(folder / "b.key", b"o")
    credentials = folder / "credentials"
    credentials.mkdir()
    put_key(credentials / "vial.key", b"c", 0o440)
    assert secret("set", "A", "--key-file", key, value=VALUE).returncode == 0
    assert secret("check", env={"VIAL_SECRET_KEY_FILE": str(key)}).returncode == 0
    assert secret("check", "--key-file", key, env={"VIAL_SECRET_KEY_FILE": str(other)}).returncode == 0
    assert secret("check", env={"VIAL_SECRET_KEY_FILE": str(key), "CREDENTIALS_DIRECTORY": str(credentials)}).returncode == 0
    done = secret("check", env={"CREDENTIALS_DIRECTORY": str(credentials)})
    assert done.returncode == 125 and "vial.key is not the one" in done.stderr
    (credentials / "vial.key").unlink()
    done = secret("check", env={"CREDENTIALS_DIRECTORY": str(credentials)})  # it has credentials for others only
    assert done.returncode == 125 and "data/secret.key is missing" in done.stderr
    assert not (secret.directory / "secret.key").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_key_of_another_user(secret, folder):
    key = put_key(folder / "a.key")
    os.chown(key, 1, 1)
    done = secret("set", "A", "--key-file", key, value=VALUE)
    assert done.returncode == 125 and "belongs to user 1" in done.stderr


@pytest.mark.parametrize("prepare, words", [
    (lambda key: key.chmod(0o640), "others may use the key file"),
    (lambda key: key.write_bytes(b"k" * 31), "has 31 bytes and not 32"),
    (lambda key: key.write_bytes(b"x" * 32), "is not the one that the secrets are encrypted with"),
    (lambda key: (key.rename(key.parent / "moved"), key.symlink_to(key.parent / "moved")), "not a regular file"),
    (lambda key: (key.unlink(), os.mkfifo(key, 0o600)), "not a regular file"),
    (lambda key: key.unlink(), "is missing"),
])
def test_a_key_that_cannot_be_used(secret, folder, prepare, words):
    key = put_key(folder / "a.key")
    assert secret("set", "A", "--key-file", key, value=VALUE).returncode == 0
    prepare(key)
    for args in [["check"], ["rotate"], ["set", "B"]]:
        done = secret(*args, "--key-file", key, value=VALUE)
        assert done.returncode == 125 and words in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
    assert secret("list").returncode == 0  # which needs no key
    assert secret("delete", "A").returncode == 0


def test_rotate(secret, folder):
    key, next_key = put_key(folder / "a.key"), put_key(folder / "b.key", b"n")
    for name in "ABC":
        assert secret("set", name, "--key-file", key, value=VALUE).returncode == 0
    assert secret("rotate", "--key-file", key).stdout == "encrypted 3 secrets with a new key\n"
    assert key.read_bytes() != b"k" * 32 and stat.S_IMODE(key.stat().st_mode) == 0o600
    assert secret("check", "--key-file", key).returncode == 0
    done = secret("rotate", "--key-file", key, "--new-key-file", next_key)
    assert done.returncode == 0 and "that file" in done.stdout
    assert secret("check", "--key-file", key).returncode == 125
    assert secret("check", "--key-file", next_key).stdout == "3 secrets can be read, 0 cannot\n"
    credentials = folder / "credentials"
    credentials.mkdir()
    (next_key).rename(credentials / "vial.key")
    done = secret("rotate", env={"CREDENTIALS_DIRECTORY": str(credentials)})
    assert done.returncode == 2 and "not ours to replace" in done.stderr


# ---- damage and company ----

def test_a_swapped_record_is_found(secret):
    for name, value in [("A", VALUE), ("B", VALUE + "2")]:
        assert secret("set", name, value=value).returncode == 0
    database = sqlite3.connect(secret.directory / "store.db")
    database.execute("UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'A') WHERE name = 'B'")
    database.commit()
    database.close()
    done = secret("check")
    assert (done.returncode, done.stdout) == (1, "1 secret can be read, 1 cannot\n")
    assert done.stderr == "vial: the record of B is damaged, or it is that of another secret; set it anew\n"
    assert secret("rotate").returncode == 125


def test_a_newer_store_is_left_alone(secret):
    assert secret("set", "A", value=VALUE).returncode == 0
    database = sqlite3.connect(secret.directory / "store.db")
    database.execute("UPDATE secret_state SET schema = 2")
    database.commit()
    database.close()
    done = secret("list")
    assert done.returncode == 125 and "newer vial (their schema is 2, this one knows 1)" in done.stderr


def test_several_at_once(secret):
    command = ["secret", "--data-dir", secret.directory]
    running = [subprocess.Popen(secret.vial.command(*command, *args), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
               for i in range(4) for args in (["set", f"N{i}"], ["rotate"])]
    for process in running:
        _, errors = process.communicate(VALUE.encode(), timeout=30)
        assert process.returncode == 0, errors
    assert secret("check").stdout == "4 secrets can be read, 0 cannot\n"


@pytest.mark.everyone
def test_no_core_and_no_argument_has_the_value(secret):
    """While it waits for the value nobody of the same user can look into it, and it is not in its arguments."""
    process = subprocess.Popen(secret.vial.command("secret", "set", "A", "--data-dir", secret.directory),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + 20
    while not (secret.directory / "store.db").exists() and time.monotonic() < end:
        time.sleep(0.01)
    with open(f"/proc/{process.pid}/cmdline", "rb") as file:
        assert VALUE.encode() not in file.read()
    assert os.stat(f"/proc/{process.pid}/mem").st_uid == 0  # not dumpable: root's, whoever started it
    out, _ = process.communicate(VALUE.encode(), timeout=20)
    assert process.returncode == 0 and VALUE.encode() not in out
