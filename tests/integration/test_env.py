"""test_env.py - `vial env`: documents judged, stored, listed, shown and deleted; what other users and damaged
files do to it; and that program, JSON Schema and manual say the same.
"""

import json
import os
import pathlib
import re
import stat
import subprocess

import jsonschema
import pytest

import environment_cases as cases
from conftest import BUILD, ROOT

SCHEMA = json.loads((ROOT / "share/environment.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLE = {"name": "crm", "description": "Customers.", "prefix": "const a = 1",
           "tools": [{"name": "crm.find", "description": "Finds one.", "http":
                      {"url": "https://crm.test/find", "headers": {"Authorization": "secret-token"}}}]}


@pytest.fixture
def env(vial, folder):
    """Calls `vial env` with a data directory of its own."""
    folder.chmod(0o777)

    def call(*args, document=None, **more):
        stdin = document if isinstance(document, str) else json.dumps(document) if document is not None else ""
        return vial("env", *args, "--data-dir", folder / "data", stdin=stdin, **more)

    call.directory = folder / "data"
    return call


def faults(done):
    """The faults that stderr lists, as pairs of path and message."""
    first, *lines = done.stderr.splitlines()
    assert re.fullmatch(r"vial: .* breaks \d+ rules?:", first), done.stderr
    found = [tuple(line.split(": ", 1)) for line in lines]
    assert f" {len(found)} rule" in first
    return found


# ---- the life of an environment ----

@pytest.mark.everyone
def test_create_update_show_versions_delete(env):
    done = env("create", "-", document=EXAMPLE)
    assert (done.returncode, done.stdout) == (0, "crm@1\n"), done.stderr
    assert env("update", "-", document={**EXAMPLE, "description": "New."}).stdout == "crm@2\n"
    assert json.loads(env("show", "crm", "--json").stdout)["description"] == "New."
    assert json.loads(env("show", "crm@1", "--json").stdout) == EXAMPLE
    assert [row["version"] for row in json.loads(env("versions", "crm", "--json").stdout)] == [2, 1]
    assert env("delete", "crm@2").returncode == 0
    assert json.loads(env("show", "crm", "--json").stdout) == EXAMPLE
    assert env("delete", "crm").stdout == "deleted crm\n"
    assert env("show", "crm").returncode == 1
    assert env("create", "-", document=EXAMPLE).stdout == "crm@3\n"
    mode = stat.S_IMODE(env.directory.stat().st_mode)
    assert mode == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in env.directory.iterdir())


def test_the_document_is_kept_as_it_was_written(env):
    text = '{ "name" : "a",\n "globals": {"x": 1.10, "y": 1e2} }\n'
    assert env("create", "-", document=text).returncode == 0
    assert env("show", "a", "--json").stdout == text
    assert env("update", "-", document=env("show", "a", "--json").stdout).stdout == "a@2\n"


def test_from_a_file(env, folder):
    path = folder / "crm.json"
    path.write_text(json.dumps(EXAMPLE))
    assert env("create", path).stdout == "crm@1\n"
    path.write_text('{"name": "crm",}')
    done = env("update", path)
    assert done.returncode == 3
    assert faults(done)[0][0] == "document" and "line 1, column 16" in faults(done)[0][1]
    assert done.stderr.startswith(f"vial: {path} breaks 1 rule:\n")


def test_lists_are_tables_without_colours(env):
    assert env("list").stdout == "" and "no environments" in env("list").stderr
    assert env("list", "--json").stdout == "[]\n"
    for name in ["short", "a-much-longer-name"]:
        env("create", "-", document={"name": name})
    done = env("list")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", "a-much-longer-name", "short"]
    assert len({len(line) for line in lines}) == 1 and "\x1b" not in done.stdout
    rows = json.loads(env("list", "--json").stdout)
    assert [(row["name"], row["version"], row["versions"]) for row in rows] == [("a-much-longer-name", 1, 1),
                                                                               ("short", 1, 1)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", rows[0]["created"])


def test_show_is_for_people_and_keeps_secrets(env):
    document = {**EXAMPLE, "description": "Evil \x1b[31m\u009b", "env": {"KEY": "hidden-value"}, "globals": {"g": [1]},
                "limits": {"max": {"wall_ms_max": 5000}}, "files": {"f.txt": "abc"}, "cwd": "w",
                "mounts": {"m": {"from": "/srv"}}, "modules": {"./m.js": "1"}}
    assert env("create", "-", document=document).returncode == 0
    shown = env("show", "crm").stdout
    assert "crm@1" in shown and "crm.find" in shown and "Finds one." in shown and "KEY" in shown
    assert re.search(r"wall_ms_max +5000, at most 5000", shown)
    assert "secret-token" not in shown and "hidden-value" not in shown
    assert "\x1b" not in shown and "\u009b" not in shown
    assert "secret-token" in env("show", "crm", "--json").stdout


# ---- what is refused ----

@pytest.mark.parametrize("args, code, words", [
    ((), 2, "needs a command"),
    (("destroy",), 2, 'no command "env destroy"'),
    (("create",), 2, "usage: vial env create FILE"),
    (("create", "a", "b"), 2, "usage: vial env create FILE"),
    (("create", "a", "b", "c"), 2, 'takes no "c"'),
    (("create", "/nowhere/x.json"), 2, "cannot read /nowhere/x.json"),
    (("create", "-", "--json"), 2, "takes no --json"),
    (("list", "--force"), 2, "takes no --force"),
    (("list", "--jsn"), 2, "did you mean --json?"),
    (("show", "A"), 2, "only a-z"),
    (("show", "a@0"), 2, "no version"),
    (("show", "a@x"), 2, "no version"),
    (("versions", "a@1"), 2, "without a version"),
    (("show", "a"), 1, "there is no environment a"),
    (("show", "a@4"), 1, "there is no environment a@4"),
    (("versions", "a"), 1, "there is no environment a"),
    (("delete", "a"), 1, "there is no environment a"),
    (("delete", "a@7", "--force"), 1, "there is no environment a@7"),
    (("test", "a"), 1, "there is no environment a"),
])
def test_usage(env, args, code, words):
    done = env(*args)
    assert done.returncode == code and words in done.stderr and done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_create_is_for_new_names_and_update_for_old_ones(env):
    done = env("update", "-", document=EXAMPLE)
    assert (done.returncode, done.stderr) == (1, "vial: there is no environment crm\n")
    env("create", "-", document=EXAMPLE)
    done = env("create", "-", document=EXAMPLE)
    assert (done.returncode, done.stderr) == (1, "vial: there is already an environment crm\n")
    assert len(json.loads(env("versions", "crm", "--json").stdout)) == 1


def test_every_fault_is_a_line_and_nothing_changes(env):
    env("create", "-", document=EXAMPLE)
    bad = {"name": "crm", "toolz": [], "language": "cobol", "tools": [{"name": "class"}, {"name": "x", "mode": 1}],
           "env": {"\x1b[2J": 5}}
    for command in ["create", "update"]:
        done = env(command, "-", document=bad)
        assert done.returncode == 3 and done.stdout == ""
        assert {path for path, _ in faults(done)} == {"/toolz", "/language", "/tools/0/name", "/tools/1/mode",
                                                       "/env/?[2J"}
        assert "\x1b" not in done.stderr
    assert json.loads(env("show", "crm", "--json").stdout) == EXAMPLE
    assert len(json.loads(env("versions", "crm", "--json").stdout)) == 1


def test_an_environment_can_be_tried(env):
    env("create", "-", document=EXAMPLE)
    done = env("test", "crm")
    assert done.returncode == 0 and done.stdout.startswith("crm@1 starts: its prefix takes ")
    broken = {"name": "broken", "prefix": "let a = 1;\nnull.x"}
    env("create", "-", document=broken)
    done = env("test", "broken")
    assert done.returncode == 1 and "prefix.js:2" in done.stderr and "TypeError" in done.stderr


def test_an_answer_that_cannot_be_written(env, vial):
    env("create", "-", document=EXAMPLE)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(vial.command("env", "list", "--data-dir", env.directory), stdout=full,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode == 125 and b"cannot write" in done.stderr


# ---- where ----

def test_data_directory(vial, folder):
    environ = {"PATH": os.environ["PATH"], "VIAL_DATA_DIR": str(folder / "by-variable")}
    document = json.dumps(EXAMPLE)
    assert vial("env", "create", "-", stdin=document, env=environ).stdout == "crm@1\n"
    assert (folder / "by-variable/store.db").exists()
    assert vial("env", "create", "-", "--data-dir", folder / "given", stdin=document, env=environ).stdout == "crm@1\n"
    assert (folder / "given/store.db").exists()


@pytest.mark.everyone
def test_the_users_own_directory(vial, folder):
    if vial.is_root:  # in a mount namespace, for the real directory is not for tests
        script = f"mount -t tmpfs none /var/lib && {BUILD}/vial env list && test -f /var/lib/vial/store.db"
        environ = {"PATH": os.environ["PATH"], "XDG_DATA_HOME": str(folder)}
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=environ, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return
    folder.chmod(0o777)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    assert vial("env", "list", env=environ).returncode == 0
    assert (folder / ".local/share/vial/store.db").exists()
    assert vial("env", "list", env={**environ, "XDG_DATA_HOME": str(folder / "xdg")}).returncode == 0
    assert (folder / "xdg/vial/store.db").exists()
    assert vial("env", "list", env={**environ, "XDG_DATA_HOME": "relative"}, cwd=folder).returncode == 0
    assert not (folder / "relative").exists()


@pytest.mark.everyone
def test_directories_that_cannot_be_used(vial, folder):
    folder.chmod(0o777)
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)  # it belongs to root, or to whoever we are
    done = vial("env", "list", "--data-dir", shared)
    assert done.returncode == 125 and "others may write" in done.stderr
    (folder / "file").write_text("")
    done = vial("env", "list", "--data-dir", folder / "file")
    assert done.returncode == 125 and "ENOTDIR" in done.stderr
    if not vial.is_root:
        done = vial("env", "list", "--data-dir", "/var/lib/vial-of-root")
        assert done.returncode == 125 and "cannot make the data directory" in done.stderr
        readonly = folder / "readonly"
        readonly.mkdir()
        readonly.chmod(0o755)
        done = vial("env", "list", "--data-dir", readonly)
        assert done.returncode == 125 and "cannot be used" in done.stderr and done.stderr.count("\n") == 1


def test_a_damaged_store_is_not_touched(env):
    env("create", "-", document=EXAMPLE)
    path = env.directory / "store.db"
    path.write_bytes(b"garbage" * 1000)
    done = env("list")
    assert done.returncode == 125 and "damaged" in done.stderr and done.stderr.count("\n") == 1
    assert path.read_bytes() == b"garbage" * 1000


# ---- one set of rules ----

def accepts(vial, folder, document, number):
    """The program's verdict: True, or the paths of the faults."""
    done = vial("env", "create", "-", "--data-dir", folder / str(number), stdin=json.dumps(document))
    if done.returncode == 0:
        return True
    assert done.returncode == 3, (document, done.stderr)
    return [path for path, _ in faults(done)]


def test_good_documents_pass_both(vial, folder):
    for number, document in enumerate(cases.GOOD):
        assert accepts(vial, folder, document, number) is True, document
        assert VALIDATOR.is_valid(document), document


def test_bad_documents_pass_neither(vial, folder):
    for document, path in cases.BAD:
        found = accepts(vial, folder, document, "bad")
        assert found is not True, document
        assert any((name if name != "document" else "").startswith(path.replace("\n", "?")) for name in found), (
            document, path, found)
        assert not VALIDATOR.is_valid(document), document


def test_rules_that_a_schema_cannot_say(vial, folder):
    for document, path in cases.BEYOND:
        found = accepts(vial, folder, document, "beyond")
        assert found is not True and path in found, (document, found)


def test_limits_are_those_of_runs(vial, folder):
    names = set(vial.result("-e", "1")["limits"])
    stated = SCHEMA["$defs"]["limits"]["properties"]
    assert set(stated) == names
    for name, rule in stated.items():
        for value, fine in [(rule["minimum"], True), (rule["maximum"], True), (rule["minimum"] - 1, False),
                            (rule["maximum"] + 1, False)]:
            document = {"name": f"a{name.replace('_', '-')}-{value if value > 0 else 0}", "limits": {"max": {name: value}}}
            assert (accepts(vial, folder, document, "limits") is True) == fine, document
            assert VALIDATOR.is_valid(document) == fine


def test_no_tool_hides_what_programs_have(vial, folder):
    names = vial.value("Object.getOwnPropertyNames(globalThis)")
    assert "console" in names and len(names) > 100
    document = {"name": "a", "tools": [{"name": name} for name in names]}
    found = accepts(vial, folder, document, "globals")
    assert found is not True
    assert set(found) == {f"/tools/{i}/name" for i in range(len(names))}
    for name in names:
        assert not VALIDATOR.is_valid({"name": "a", "tools": [{"name": name}]}), name


def test_defaults_that_the_schema_states_are_in_the_manual():
    manual = (ROOT / "docs/environments.md").read_text()
    for key, rule in SCHEMA["$defs"]["tool"]["properties"].items():
        assert f"`{key}`" in manual
        if isinstance(rule.get("default"), int) and not isinstance(rule["default"], bool):
            assert f"{rule['default']:,}" in manual, key
    for key in SCHEMA["properties"]:
        assert f"`{key}`" in manual


def test_the_schema_describes_every_key(vial):
    printed = vial("env", "schema").stdout
    assert json.loads(printed) == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def look(node, path):
        for name, rule in node.get("properties", {}).items():
            if rule is not False and path != "/if" and not path.endswith("/then"):
                assert len(rule["description"]) > 10, f"{path}/{name}"
            if isinstance(rule, dict):
                look(rule, f"{path}/{name}")

    look(SCHEMA, "")
    for name, rule in SCHEMA["$defs"].items():
        look(rule, name)


# ---- runs in it ----

@pytest.mark.guest
def test_a_tool_that_is_not_permitted_says_which_rule_refused_it(env, vial):
    tools = [{"name": name, "exec": {"command": ["/bin/cat"]}} for name in ("crm.find", "crm.drop", "echo")]
    rules = [{"effect": "allow", "match": "*"}, {"effect": "deny", "match": "crm.*", "name": "hands off"},
             {"effect": "allow", "match": "crm.find"}]
    prefix = "let early; try { await crm.drop(1) } catch (e) { early = e.name }"
    document = {"name": "crm", "prefix": prefix, "tools": tools, "permissions": {"tools": rules}}
    assert env("create", "-", document=document).returncode == 0
    code = "[early, await crm.drop(1).catch((e) => e.message), await crm.find(1), await echo(2)]"
    result = vial.result("--in", "crm", "--data-dir", env.directory, "-e", code)
    refused = 'crm.drop may not be called: denied by "hands off" (tools rule 2 of the environment)'
    assert result["value"] == ["DeniedError", refused, 1, 2], result["error"]
    assert [(c["name"], c["status"], c["reason"]) for c in result["calls"]][0] == ("crm.drop", "denied", refused)
    assert "crm.drop" not in env("types", "crm").stdout


@pytest.mark.guest
def test_a_function_does_not_outlive_its_run(env, vial):
    assert env("create", "-", document={"name": "plain", "prefix": "const f = () => 1"}).returncode == 0
    result = vial.result("--in", "plain", "--data-dir", env.directory, "-e", "({f})")
    assert result["error"]["message"].startswith("value.f is a function, which cannot cross to the host")


def test_the_example_of_the_manual(env):
    manual = pathlib.Path(ROOT / "docs/environments.md").read_text()
    example = re.search(r"```json\n(.*?)```", manual, re.DOTALL).group(1)
    done = env("create", "-", document=example)
    assert (done.returncode, done.stdout) == (0, "support@1\n"), done.stderr
    assert VALIDATOR.is_valid(json.loads(example))
    # It has every key but those that only environments for Python have.
    assert set(json.loads(example)) == set(SCHEMA["properties"]) - {"packages", "allowed_imports"}
    assert json.loads(env("show", "support", "--json").stdout) == json.loads(example)
    shown = re.search(r"```\n\$ vial env show support\n(.*?)```", manual, re.DOTALL).group(1)
    made = env("show", "support").stdout
    assert re.sub(r"\d{4}-.*Z", "TIME", made) == re.sub(r"\d{4}-.*Z", "TIME", shown)


def test_the_faults_of_the_manual(env, folder):
    manual = (ROOT / "docs/environments.md").read_text()
    shown = re.search(r"```\n\$ vial env create bad.json\n(.*?)```", manual, re.DOTALL).group(1)
    (folder / "bad.json").write_text('{"name": "Bad", "toolz": [], "limits": {"max": {"wall_ms_max": 0}}}')
    assert env("create", "bad.json", cwd=folder).stderr == shown
