"""test_env_types.py - `vial env types`, `search` and `describe`: the tools of an environment as text for models."""

import ast
import json

import pytest

TOOLS = [
    {"name": "crm.find", "description": "Finds a customer by number.",
     "input": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    {"name": "crm.refund", "description": "Pays an order back.", "approve": True},
    {"name": "today", "description": "The date.", "mode": "sync", "output": {"type": "string"}},
    {"name": "hidden", "description": "May not be called."},
]


@pytest.fixture
def env(vial, folder):
    document = {"name": "shop", "tools": TOOLS, "permissions": {"tools": [{"effect": "allow", "match": name} for name in ("crm.*", "today")]}}
    made = vial("env", "create", "-", "--data-dir", folder / "data", stdin=json.dumps(document))
    assert made.returncode == 0, made.stderr
    return lambda *args: vial("env", *args, "--data-dir", folder / "data")


def test_types_are_of_the_tools_that_may_be_called(env):
    done = env("types", "shop")
    assert done.returncode == 0, done.stderr
    assert "find" in done.stdout and "refund" in done.stdout and "today" in done.stdout
    assert "hidden" not in done.stdout and done.stdout.endswith("\n")
    assert env("types", "shop@1", "--lang", "ts").stdout == done.stdout
    python = env("types", "shop", "--lang", "python").stdout
    assert python != done.stdout and ast.parse(python)


def test_search_is_a_table_of_what_fits_best(env):
    done = env("search", "shop", "customer")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == ["crm.find", "Finds", "a", "customer", "by", "number."]
    assert "hidden" not in env("search", "shop", "called").stdout
    done = env("search", "shop", "zeppelin")
    assert done.returncode == 1 and "zeppelin" in done.stderr and done.stdout == ""


def test_describe_tells_about_one(env):
    done = env("describe", "shop", "crm.find")
    assert done.returncode == 0 and "Finds a customer by number." in done.stdout and "id" in done.stdout
    assert ast.parse(env("describe", "shop", "crm.find", "--lang", "python").stdout)
    done = env("describe", "shop", "crm.fnd")
    assert done.returncode == 1 and 'no tool "crm.fnd"' in done.stderr
    assert env("describe", "shop", "hidden").returncode == 1


@pytest.mark.parametrize("args, code, words", [
    (("types", "shop", "--lang", "perl"), 2, "--lang takes ts or python"),
    (("types",), 2, "usage: vial env types NAME[@V]"),
    (("search", "shop"), 2, "usage: vial env search"),
    (("search", "shop", "x", "--lang", "ts"), 2, "takes no --lang"),
    (("types", "other"), 1, "there is no environment other"),
])
def test_usage(env, args, code, words):
    done = env(*args)
    assert done.returncode == code and words in done.stderr and done.stderr.count("\n") == 1
