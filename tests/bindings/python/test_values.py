"""The conversion table, in C and through guests of both languages."""

import array
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import pathlib
import re
import uuid

import pytest

import vial
from vial import _vial, undefined

UTC = datetime.timezone.utc

SAME = [
    None, True, False, 0, -1, 2**53 - 1, 2**53, -(2**53), 2**64, -(2**200), 1.5, -0.0, 1e300, math.inf, "",
    "text \u00e9 \U0001f600 \" \\ \n \x00", [], [1, [2, [3]]], {}, {"a": {"b": [1]}}, b"", b"\x00\xff", {1, 2},
    {1: 2, "a": 3}, {(1, 2): 3}, undefined, [undefined], datetime.datetime(2026, 1, 2, 3, 4, 5, 123000, tzinfo=UTC),
    datetime.datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC), datetime.date(2026, 1, 2), datetime.time(1, 2, 3),
    datetime.timedelta(days=1, seconds=2, microseconds=3), decimal.Decimal("1.10"), decimal.Decimal("-Infinity"),
    fractions.Fraction(1, 3), uuid.UUID(int=5), 1 + 2j, datetime.datetime(2026, 1, 1),
]


def crossed(value):
    is_cbor, data = _vial.encode(value, None)
    return _vial.decode(is_cbor, data, None)


@pytest.mark.parametrize("value", SAME, ids=lambda value: repr(value)[:40])
def test_what_is_written_is_read_again(value):
    back = crossed(value)
    assert back == value and type(back) is type(value)
    if value == 0 and isinstance(value, float):
        assert math.copysign(1, back) == math.copysign(1, value)


@pytest.mark.parametrize("value", [value for value in SAME if "undefined" not in repr(value)],
                         ids=lambda value: repr(value)[:40])
def test_through_a_python_guest(value):
    assert vial.run("input", lang="python", input=value).value_or_raise() == value


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: float


@pytest.mark.parametrize("value, becomes", [
    ((1, 2), [1, 2]), (range(3), [0, 1, 2]), (frozenset([1]), {1}), (bytearray(b"a"), b"a"), (memoryview(b"a"), b"a"),
    (Colour.RED, "red"), (Point(1, 2.5), {"x": 1, "y": 2.5}), (pathlib.PurePosixPath("/a"), "/a"),
    (re.compile("a+", re.I), vial.RegExp("a+", "i")), (array.array("d", [1.5]), array.array("d", [1.5])),
    ("\ud800", "\ud800"), ({"\ud800": b""}, {"\ufffd": b""}),
])
def test_what_becomes_something_else(value, becomes):
    assert crossed(value) == becomes


def test_nan():
    assert math.isnan(crossed(math.nan)) and math.isnan(vial.run("NaN").value)


@pytest.mark.parametrize("code, value", [
    ("2n ** 70n", 2**70), ("-(2n ** 64n) - 1n", -(2**64) - 1), ("5n", 5), ("new Map([['a', 1], [2, 3]])", {"a": 1, 2: 3}),
    ("new Map([[[1, 2], 3]])", {(1, 2): 3}), ("new Set([1, [2]])", {1, (2,)}), ("new Uint8Array([1, 2])", b"\x01\x02"),
    ("new Float64Array([1.5])", array.array("d", [1.5])), ("new Int16Array([-1])", array.array("h", [-1])),
    ("new Uint8Array([1]).buffer", b"\x01"), ("-0", -0.0), ("[undefined, null]", [undefined, None]), ("[1,,2]", [1, undefined, 2]),
    ("new Date(0)", datetime.datetime(1970, 1, 1, tzinfo=UTC)), ("new Date(NaN)", None), ("/a+/gi", vial.RegExp("a+", "gi")),
    ("new URL('https://a.example/b')", "https://a.example/b"), ("1e21", 1e21), ("2 ** 60", 2**60), ("[1234567890123456, -(2 ** 63)]", [1234567890123456, -(2**63)]), ("'\\ud800'", "\ud800"),
])
def test_from_javascript(code, value):
    back = vial.run(f"({code})").value_or_raise()
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("value, check", [
    (2**64, "input === 2n ** 64n"), (2**53 - 1, "input === 9007199254740991"), (-(2**53), "input === -(2n ** 53n)"),
    (b"ab", "input instanceof Uint8Array && input.length === 2"), ({1, 2}, "input instanceof Set && input.has(2)"),
    ({1: "a"}, "input instanceof Map && input.get(1) === 'a'"), (math.nan, "Number.isNaN(input)"),
    (-0.0, "Object.is(input, -0)"), (math.inf, "input === Infinity"), (None, "input === null"),
    (datetime.datetime(1970, 1, 1, tzinfo=UTC), "input instanceof Date && input.getTime() === 0"),
    ([undefined], "input.length === 1 && input[0] === undefined"), ({"a": {"b": [1, "x"]}}, "input.a.b[1] === 'x'"),
])
def test_to_javascript(value, check):
    assert vial.run(check, input=value).value_or_raise() is True


def test_errors_are_values_too():
    error = vial.run("new RangeError('far')").value
    assert isinstance(error, vial.GuestError) and (error.name, error.message) == ("RangeError", "far")


@pytest.mark.parametrize("make, words", [
    (lambda: circular_list(), "circular reference to a list"), (lambda: circular_dict(), "circular reference to a dict"),
    (lambda: deep(200), "Depth exceeded"),
])
def test_what_has_no_end(make, words):
    with pytest.raises(ValueError, match=words):
        vial.run("1", input=make())


def circular_list():
    made = [1]
    made.append([made])
    return made


def circular_dict():
    made = {}
    made["self"] = made
    return made


def deep(levels):
    made = []
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize("code, lang", [
    ("const a = []; a[4e9] = 1; a", "javascript"), ("__import__('decimal').Decimal('1e999999999999999999')", "python"),
])
def test_what_python_has_nothing_for_is_no_failure(code, lang):
    assert isinstance(vial.run(code, lang=lang).value_or_raise(), (vial.Unknown, __import__("decimal").Decimal))


@pytest.mark.parametrize("data", ["d81b8261616161", "c11bffffffffffffffff", "d81e820100", "c06161",
                                  "d9ffff01", "d8254100", "d81b8163466f6f"])
def test_tags_around_nonsense_are_unknown(data):
    assert isinstance(_vial.decode(True, bytes.fromhex(data), None), (vial.Unknown, float))


@pytest.mark.parametrize("data", ["", "5f", "83", "9bffffffffffffffff", "bb7fffffffffffffff", "7b7fffffffffffffff61",
                                  "c2", "1c", "fc", "0000", "81" * 600, "c261" "61"])
def test_broken_bytes_are_refused(data):
    with pytest.raises((ValueError, TypeError)):
        _vial.decode(True, bytes.fromhex(data), None)
