"""test_python_values.py - values of Python on their way to the host and back, through the real program.

The table is that of docs/values.md; tests/unit/test_value.c has all of its rows. Here are one of each kind, what
Python and JavaScript make of each other's values, and that a program cannot change what arrives.
"""

import base64
import json
import struct

import pytest

pytestmark = pytest.mark.guest


def python(vial, *args):
    return vial.result("--lang", "python", *args)


def b64(data):
    return base64.b64encode(data).decode()


PLAIN = [
    ("None", None), ("{'a': [1, 'x', True, None]}", {"a": [1, "x", True, None]}), ("-1.5", -1.5), ("(1, 2)", [1, 2]),
    ("{'$date': 1}", {"$date": 1}), ("'\\ud800'", "\ud800"), ("[1e21, 5e-324]", [1e21, 5e-324]), ("range(3)", [0, 1, 2]),
    ("import pathlib; pathlib.Path('/a')", "/a"), ("import enum\nclass C(enum.Enum):\n    A = 'a'\nC.A", "a"),
    ("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nP(1)", {"x": 1}),
    ("import collections; collections.Counter('aab')", {"a": 2, "b": 1}),
]

TAGGED = [
    ("[float('nan'), float('inf'), -0.0]", [{"$number": n} for n in ("NaN", "Infinity", "-0")]),
    ("2 ** 64", {"$bigint": str(2 ** 64)}), ("3 + 4j", {"$complex": [3.0, 4.0]}), ("b'ab'", {"$bytes": "YWI="}),
    ("{1: 'a'}", {"$map": [[1, "a"]]}), ("{1}", {"$set": [1]}),
    ("import array; array.array('d', [1.5])", {"$Float64Array": b64(struct.pack("<d", 1.5))}),
    ("import datetime; datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)",
     {"$date": "2026-01-01T00:00:00.000Z"}),
    ("import datetime; datetime.datetime(2026, 1, 1)", {"$datetime": "2026-01-01T00:00:00"}),
    ("import datetime; [datetime.date(2026, 1, 1), datetime.time(1, 2), datetime.timedelta(1)]",
     [{"$day": "2026-01-01"}, {"$time": "01:02:00"}, {"$timedelta": 86400}]),
    ("from decimal import Decimal; Decimal('1.10')", {"$decimal": "1.10"}),
    ("from fractions import Fraction; Fraction(1, 3)", {"$fraction": [1, 3]}),
    ("import uuid; uuid.UUID(int=1)", {"$uuid": "00000000-0000-0000-0000-000000000001"}),
    ("import re; re.compile('a', re.I)", {"$regexp": ["a", "i"]}),
    ("ValueError('x')", {"$error": {"name": "ValueError", "message": "x", "stack": ""}}),
]

REFUSED = [
    ("{'rows': [1, 2, 3, {'callback': print}]}", 'value["rows"][3]["callback"] is a function, which cannot cross to the host;'
     " call it and return the result"),
    ("v = []; v.append(v); v", "value[0] is a cycle back to value"), ("(i for i in [])", "use list(...)"),
    ("class Foo: pass\n[Foo()]", "value[0] is an object of class Foo"), ("import sys; sys", "a module"), ("int", "a class"),
    ("v = 1\nfor i in range(101): v = [v]\nv", "deeper than 100"),
    ("v = 1\nfor i in range(100000): v = [v]\nv", "deeper than 100"),
    ("v = []\nfor i in range(60): v = [v, v]\nv", "--value-bytes"),
]


@pytest.mark.parametrize("code, value", PLAIN)
def test_what_json_says_goes_as_json(vial, code, value):
    result = python(vial, "-e", code)
    assert result["error"] is None
    assert (result["value"], result["value_format"]) == (value, "json")


@pytest.mark.parametrize("code, value", TAGGED)
def test_what_json_cannot_say_keeps_its_identity(vial, code, value):
    result = python(vial, "-e", code)
    assert result["error"] is None
    assert (result["value"], result["value_format"]) == (value, "tagged")


@pytest.mark.parametrize("code, words", REFUSED)
def test_the_rest_is_an_error_that_names_the_place(vial, code, words):
    result = python(vial, "-e", code)
    assert result["status"] == "exception"
    assert words in result["error"]["message"]


def test_a_float_stays_one(vial):
    done = vial("run", "--json", "--lang", "python", "-e", "[1.0, 2.0]")
    assert '"value":[1.0,2.0]' in done.stdout.replace(" ", "")


@pytest.mark.parametrize("code", ["'x' * 100", "b'x' * 100", "2 ** 10000", "list(range(100))", "range(10 ** 20)"])
def test_the_size_limit_is_named(vial, code):
    result = python(vial, "--value-bytes", "64", "-e", code)
    assert (result["status"], result["error"]["name"]) == ("exception", "ValueError")
    assert "--value-bytes" in result["error"]["message"]


@pytest.mark.parametrize("hostile", [
    "import decimal; decimal.Decimal = int",
    "import fractions; fractions.Fraction._numerator = property(lambda s: 9)",
    "import uuid; uuid.UUID.int = 7", "import enum; enum.Enum.value = property(lambda s: 'forged')",
    "import dataclasses; dataclasses.fields = dataclasses._FIELD = None",
    "import pathlib; pathlib.PurePath.__str__ = lambda s: 'forged'",
    "import sys; sys.modules.clear()", "import decimal; decimal.getcontext().capitals = 0",
    "import builtins; del builtins.repr, builtins.Exception; builtins.len = None",
])
def test_a_hostile_program_cannot_change_what_arrives(vial, hostile):
    made = ("import dataclasses, decimal, enum, fractions, pathlib, uuid\n"
            "@dataclasses.dataclass\nclass P:\n    x: object\n"
            "class E(enum.Enum):\n    A = 'a'\n"
            "made = [P(1), decimal.Decimal('1E+9'), fractions.Fraction(1, 2), uuid.UUID(int=1), E.A, pathlib.Path('p')]\n")
    result = python(vial, "-e", f"{made}{hostile}\nmade")
    assert result["error"] is None
    assert result["value"] == [{"x": 1}, {"$decimal": "1E+9"}, {"$fraction": [1, 2]},
                               {"$uuid": "00000000-0000-0000-0000-000000000001"}, "a", "p"]


def test_json_comes_in(vial):
    given = {"a": [1, 1.5, None, True, "ä\n€😀"], "b": {"c": {}}, "big": 2 ** 70}
    result = python(vial, "--input", json.dumps(given), "-e",
                    "[input['a'], type(input['a'][1]).__name__, input['b'], input['big'] == 2**70]")
    assert result["value"] == [given["a"], "float", given["b"], True]


def test_cbor_comes_in(vial, folder):
    # {"d": 1(0), "m": 259({1: "x"}), "b": h'0102', "n": 2(h'0100'), "u": undefined, "s": 258([1]), "f": 1.5 (half)}
    data = bytes.fromhex("a7" "6164c100" "616dd90103a1016178" "6162420102" "616ec2420100" "6175f7" "6173d9010281" "01"
                         "6166f93e00")
    (folder / "in.cbor").write_bytes(data)
    result = python(vial, "--input-cbor", folder / "in.cbor", "-e",
                    "[input['d'].isoformat(), input['m'][1], input['b'][1], input['n'], input['u'], 1 in input['s'], input['f']]")
    assert result["value"] == ["1970-01-01T00:00:00+00:00", "x", 2, 256, None, True, 1.5]


# What Python writes, as JavaScript reads it: [1.10, 1/3, uuid, day, datetime, timedelta, complex, array of 1 x 2].
FOREIGN = ("88" "c48221186e" "d81e820103" "d82550000102030405060708090a0b0c0d0e0f" "d903ec6a323032362d30312d3032"
           "d81b82686461746574696d6573323032362d30312d30325430333a30343a3035" "d81b846974696d6564656c74610102" "1907d0"
           "d81b8367636f6d706c6578fb3ff8000000000000fb4000000000000000" "d8288282010242" "0102")


def test_javascript_reads_what_only_python_has(vial, folder):
    (folder / "in.cbor").write_bytes(bytes.fromhex(FOREIGN))
    value = vial.result("--input-cbor", folder / "in.cbor", "-e",
                        "const [a, ...rest] = input; const last = rest.pop(); "
                        "[a, ...rest, last.shape, Array.from(last.data)]")["value"]
    assert value == ["1.10", "1/3", "00010203-0405-0607-0809-0a0b0c0d0e0f", "2026-01-02", "2026-01-02T03:04:05",
                     86402002, {"re": 1.5, "im": 2}, [1, 2], [1, 2]]


def test_python_reads_it_too(vial, folder):
    (folder / "in.cbor").write_bytes(bytes.fromhex(FOREIGN))
    result = python(vial, "--input-cbor", folder / "in.cbor", "-e", "repr(input)")
    assert result["value"] == ("[Decimal('1.10'), Fraction(1, 3), UUID('00010203-0405-0607-0809-0a0b0c0d0e0f'), "
                               "datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5), "
                               "datetime.timedelta(days=1, seconds=2, microseconds=2000), (1.5+2j), [[1, 2]]]")
