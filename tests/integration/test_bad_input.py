"""test_bad_input.py - what a user gets wrong: one line on stderr, exit code 2, and nothing was started."""

import os
import shutil
import subprocess

import pytest

from conftest import Vial


@pytest.fixture
def lonely(folder, public_directory):
    """The program without its cell program: had it tried to start something, it would fail with 125."""
    place = folder / "lonely"
    place.mkdir()
    for path in public_directory.iterdir():
        if path.name != "vial-cell-js":
            shutil.copy(path, place, follow_symlinks=False)
    return Vial(place)


def assert_refused(done, *words):
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("vial: ")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


LIMIT_FLAGS = ["--wall-ms", "--cpu-ms", "--timers", "--memory-mb", "--stdout-bytes", "--stderr-bytes",
               "--value-bytes", "--disk-mb", "--file-count", "--open-files"]
NO_NUMBERS = ["-1", "", "0", "abc", "1.5", "1e3", "0x10", " 5", "99999999999999999999999999",
              "18446744073709551615", "9223372036854775808"]


@pytest.mark.parametrize("flag", LIMIT_FLAGS)
@pytest.mark.parametrize("number", NO_NUMBERS)
def test_limits_that_are_none(lonely, flag, number):
    assert_refused(lonely("run", flag, number, "-e", "1"), flag)


@pytest.mark.parametrize("args, words", [
    ([], ["give a program"]),
    (["/no/such/file.js"], ["/no/such/file.js", "No such file"]),
    (["/"], ["/ is a directory"]),
    (["a.js", "b.js"], ["a.js", "b.js"]),
    (["a.js", "-e", "1"], ["either a file or -e"]),
    (["-e", "1", "-e", "2"], ["-e was given twice"]),
    (["-e"], ["-e needs a value"]),
    (["-e", "1", "--input"], ["--input needs a value"]),
    (["-e", "1", "--input", "1", "--input-file", "x"], ["one of --input, --input-file"]),
    (["-e", "1", "--input-file", "/no/such"], ["/no/such"]),
    (["-", "--input-file", "-"], ["stdin"]),
    (["--wall-ms"], ["--wall-ms needs a value"]),
    (["--json=yes", "-e", "1"], ["--json takes no value"]),
    (["--jsn", "-e", "1"], ["did you mean --json?"]),
    (["--no-such-flag", "-e", "1"], ["--no-such-flag"]),
    (["-x", "-e", "1"], ["-x"]),
    (["--require", "no-such-layer", "-e", "1"], ["no-such-layer"]),
    (["--require", "landlock>=x", "-e", "1"], ["landlock>=x"]),
    (["--require", ",", "-e", "1"], ["--require"]),
    (["--require", "full,", "-e", "1"], ["--require", "full,"]),
    (["--require", "x" * 2000, "-e", "1"], ["--require"]),
    (["bad\x1b[31m\nname.js"], ["bad?[31m?name.js"]),
])
def test_arguments_that_make_no_sense(lonely, args, words):
    assert_refused(lonely("run", *args), *words)


@pytest.mark.parametrize("args, words", [
    (["frobnicate"], ["frobnicate"]), (["--frobnicate"], ["--frobnicate"]), ([""], []),
])
def test_commands_that_do_not_exist(lonely, args, words):
    assert_refused(lonely(*args), *words)


def test_a_file_that_is_far_too_large(lonely, folder):
    with open(folder / "large.js", "wb") as file:
        file.truncate(1 << 30)
    assert_refused(lonely("run", folder / "large.js"), "1073741824 bytes", "67108864")
    assert_refused(lonely("run", "-e", "1", "--input-file", folder / "large.js"), "134217728")


@pytest.mark.parametrize("bytes_, at", [
    (b"\xff", 0), (b"'\xc3\x28'", 1), (b"\xed\xa0\x80", 0), (b"ok\xf4\x90\x80\x80", 2),
])
def test_a_program_that_is_no_text(lonely, folder, bytes_, at):
    (folder / "bytes.js").write_bytes(bytes_)
    text = bytes_.decode("utf-8", "surrogateescape")
    assert_refused(lonely("run", folder / "bytes.js"), f"bytes.js is not UTF-8 (at byte {at})")
    assert_refused(lonely("run", "-e", text), f"the source is not UTF-8 (at byte {at})")
    with open(folder / "bytes.js", "rb") as file:
        done = subprocess.run(lonely.command("run", "-"), stdin=file, capture_output=True, check=False,
                              encoding="utf-8", timeout=60)
    assert_refused(done, f"the source is not UTF-8 (at byte {at})")


def test_a_program_whose_name_is_no_text(lonely, folder):
    path = folder / os.fsdecode(b"\xff.js")
    path.write_text("1")
    assert_refused(lonely("run", path), "the name of the source must be UTF-8")


@pytest.mark.parametrize("text, words", [
    ("", ["JSON"]), ("{", ["line 1, column 2"]), ("{'a': 1}", ["line 1, column 2"]), ("[1,]", ["JSON"]),
    ("nul", ["JSON"]), ("1 2", ["JSON"]), ("[" * 1000 + "]" * 1000, ["JSON"]), ('"\x01"', ["JSON"]),
])
def test_an_input_that_is_no_json(lonely, folder, text, words):
    (folder / "input.json").write_text(text)
    assert_refused(lonely("run", "--input", text, "-e", "1"), "the input is not JSON: ", *words)
    done = lonely("run", "--input-file", folder / "input.json", "-e", "1")
    assert_refused(done, "input.json is not JSON: ", *words)
    done = lonely("run", "--input-file", "-", "-e", "1", stdin=text)
    assert_refused(done, "the input is not JSON: ", *words)


def test_the_lonely_program_cannot_start_anything(lonely):
    assert lonely("run", "--input", "{}", "-e", "1").returncode == 125


@pytest.mark.everyone
def test_a_file_that_may_not_be_read(vial, folder):
    if vial.is_root:
        pytest.skip("root may read everything; the test runs as a plain user as well")
    (folder / "secret.js").write_text("1")
    (folder / "secret.js").chmod(0)
    assert_refused(vial("run", folder / "secret.js"), "Permission denied")


def test_a_fifo_and_a_device_do_not_hang(lonely, folder):
    os.mkfifo(folder / "fifo")
    done = lonely("run", folder / "fifo", timeout=20)
    assert done.returncode in (2, 125)
    assert_refused(lonely("run", "/dev/zero", timeout=60), "/dev/zero")


def test_a_stdout_that_takes_nothing_is_our_failure(vial):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(vial.command("run", "--json", "-e", "1"), stdout=full, check=False,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=60)
    assert done.returncode == 125
    assert "stdout" in done.stderr


def test_lost_output_of_the_guest_is_our_failure_too(vial):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(vial.command("run", "-e", "console.log(1)"), stdout=full, check=False,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=60)
    assert done.returncode == 125
    assert "lost" in done.stderr


def test_a_closed_stdout_is_our_failure_and_nobody_else_s_descriptor(vial):
    done = subprocess.run(["sh", "-c", 'exec "$@" 1>&-', "sh", *map(str, vial.command("run", "-e", "console.log(1)"))],
                          check=False, stderr=subprocess.PIPE, encoding="utf-8", timeout=60)
    assert done.returncode == 125
    assert "Bad file descriptor" in done.stderr
