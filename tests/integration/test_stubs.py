"""test_stubs.py - stubs of tools are TypeScript and Python, whatever their names and schemas say.

The parsers of the languages decide: esbuild for TypeScript, ast for Python. What is written for Python is
also executed, so that its types are types.
"""

import ast
import json
import random
import subprocess
import sys
import typing

import pytest

from conftest import BUILD, ROOT

ESBUILD = next((ROOT / "node_modules" / "@esbuild").glob("linux-*/bin/esbuild"))

CUSTOMER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "description": "The number of the customer."},
        "name": {"type": "string", "maxLength": 40, "pattern": "^[^*/]*$"},
        "kind": {"enum": ["person", "company", None]},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "place": {"prefixItems": [{"type": "number"}, {"type": "number"}], "items": False},
        "more": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "address": {"$ref": "#/$defs/Address"},
    },
    "required": ["id"],
    "$defs": {
        "Address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]}},
            "required": ["street"],
        }
    },
}

ODD = {
    "type": "object",
    "properties": {"from": {"type": "string"}, "class": {}, "a b": {"const": "*/"}, "": {}, "__init__": {}, "ä": {}, "\u2028": {}},
    "required": ["from"],
}

TOOLS = [
    ("crm.find", "Finds a customer.", CUSTOMER, CUSTOMER, ""),
    ("crm.delete", "Ends a comment: */ and a string: \"\"\" and ''' and \\", ODD, ODD, "a"),
    ("crm.deep.down.below", "Two\nlines \r\n and \u2028 more", ODD, {"type": "array", "items": CUSTOMER}, "s"),
    ("crm", None, None, None, ""),
    ("get-weather", "\\", {"type": "string"}, {"enum": [1, 2.5, "x\"y\\", None, True, [1], {"a": 1}]}, ""),
    ("import", "x" * 5000, True, False, "s"),
    ("1st", "", {"allOf": [CUSTOMER, {"properties": {"z": {}}}]}, {"oneOf": [{"type": "null"}, ODD]}, ""),
    ("a..b", None, {}, {}, ""),
    ("mail.\" + alert() + \"", None, None, {"$ref": "#/nowhere"}, ""),
    ("lambda.def", None, {"type": "object"}, {"$ref": "#"}, "s"),
]


def run(language, form, tools):
    """The stubs of tools, each (name, description, input, output, flags)."""
    words = []
    for name, description, given, made, flags in tools:
        words += [name, "-" if description is None else description]
        words += ["-" if schema is None else json.dumps(schema) for schema in (given, made)]
        words.append(flags)
    done = subprocess.run(
        [str(BUILD / "tests" / "print-stubs"), language, form, *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_typescript(text):
    """Every line has to be a declaration: it parses, and nothing of it is left when types are taken out."""
    done = subprocess.run(
        [str(ESBUILD), "--loader=ts", "--log-level=error"], input=text, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr + text
    assert done.stdout.strip() == "", done.stdout


def check_python(text):
    """Only imports, classes, functions and names of types, and nothing in them that does anything."""
    for node in ast.walk(ast.parse(text, feature_version=(3, 11))):
        assert not isinstance(node, (ast.Await, ast.Lambda, ast.For, ast.While, ast.Import)), text
        if isinstance(node, ast.Call):
            assert node.func.id == "TypedDict", text


@pytest.mark.parametrize("form", ["write", "describe"])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool[0])
def test_each_tool_is_valid(tool, form):
    check_typescript(run("typescript", form, [tool]))
    check_python(run("python", form, [tool]))


def test_all_tools_together_are_valid():
    check_typescript(run("typescript", "write", TOOLS))
    check_python(run("python", "write", TOOLS))


def test_a_tool_is_short():
    text = run("typescript", "write", [TOOLS[0]] + [(f"crm.f{i}", "Does.", CUSTOMER, CUSTOMER, "") for i in range(50)])
    assert text.count("type ") == 1  # the definition is shared
    assert len(text.splitlines()) == 2 * 51 + 3


def test_words_of_the_languages_are_no_names():
    words = """abstract any arguments as async await boolean break case catch class const continue debugger declare
        default delete do else enum eval export extends false finally for from function get global if implements
        import in instanceof interface is keyof let match module namespace never new None null number object of
        package print private protected public readonly require return set static str string super switch symbol
        this throw True try type typeof undefined union unique unknown using var void while with yield""".split()
    tools = [(name, None, CUSTOMER, None, "") for word in words for name in (word, f"{word}.{word}", f"x.{word}")]
    check_typescript(run("typescript", "write", tools))
    check_python(run("python", "write", tools))


def test_types_of_python_are_types():
    module = type(sys)("stubs")
    sys.modules["stubs"] = module
    try:
        exec(compile(run("python", "write", TOOLS[:3]), "stubs", "exec"), module.__dict__)
        scope = module.__dict__
        hints = typing.get_type_hints(scope["crm"].find, scope)
        assert hints["id"] is int
        assert hints["kind"] == typing.Literal["person", "company", None]
        assert hints["place"] == tuple[float, float]
        assert typing.get_type_hints(hints["address"], scope)["next"] == typing.Optional[hints["address"]]
        fields = typing.get_type_hints(hints["return"], scope, include_extras=True)
        assert fields["id"] is int
        assert fields["name"] == typing.NotRequired[str]
        assert "from" in typing.get_type_hints(scope["crm"].delete, scope)["input"].__annotations__
    finally:
        del sys.modules["stubs"]


def any_text(chance):
    pieces = ["*/", "/*", '"""', "'", '"', "\\", "\n", "\r", "\u2028", "`", "${", "#", "//", "<", ">", "}", "{", "a", "B", "_", "9",
              "ä", "😀", " ", "-", ".", "\x1b", "$"]
    return "".join(chance.choice(pieces) for _ in range(chance.randrange(8)))


def any_schema(chance, depth=0):
    def inner():
        return any_schema(chance, depth + 1)

    if depth > 4 or chance.random() < 0.1:
        return chance.choice([True, False, {}, {"type": "string"}, {"$ref": "#"}, {"$ref": "#/$defs/x"}, 3, None, "x", []])
    schema = {}
    for keyword, make in [
        ("type", lambda: chance.choice(["string", "object", "array", "null", "integer", ["object", "null"], [], 3, "x", ["array"]])),
        ("enum", lambda: [chance.choice([any_text(chance), 1, -2.5, None, True, [], {}, 1e300]) for _ in range(3)]),
        ("const", lambda: any_text(chance)),
        ("properties", lambda: {any_text(chance): inner() for _ in range(3)}),
        ("required", lambda: [any_text(chance), 3]),
        ("additionalProperties", inner),
        ("patternProperties", lambda: {any_text(chance): inner()}),
        ("items", lambda: chance.choice([inner(), [inner(), inner()]])),
        ("prefixItems", lambda: [inner(), inner()]),
        ("additionalItems", inner),
        ("minItems", lambda: chance.choice([0, 1, -1, 2.5, "x"])),
        ("anyOf", lambda: [inner() for _ in range(chance.randrange(3))]),
        ("allOf", lambda: [inner() for _ in range(chance.randrange(3))]),
        ("oneOf", lambda: chance.choice([[inner()], 3])),
        ("description", lambda: any_text(chance)),
        ("default", lambda: any_text(chance)),
        ("pattern", lambda: any_text(chance)),
        ("$defs", lambda: {"x": inner(), any_text(chance): inner()}),
    ]:
        if chance.random() < 0.2:
            schema[keyword] = make()
    return schema


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("form", ["write", "describe"])
def test_whatever_tools_say_is_valid(seed, form):
    chance = random.Random(seed)
    names = set()
    while len(names) < (25 if form == "write" else 1):
        names.add((any_text(chance) or "x").replace("\0", "") or "x")
    tools = [
        (name, any_text(chance), any_schema(chance), any_schema(chance), chance.choice(["", "s", "a"]))
        for name in sorted(names)
        if name != "-"
    ]
    check_typescript(run("typescript", form, tools))
    check_python(run("python", form, tools))
