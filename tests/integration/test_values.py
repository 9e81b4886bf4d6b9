"""test_values.py - values on their way to the host: what JSON says, what needs tags, what is refused.

The table is that of docs/values.md. The way back is in tests/unit/test_run.c, where a result's CBOR becomes
the next run's input.
"""

import base64
import struct

import pytest

pytestmark = pytest.mark.guest


def b64(data):
    return base64.b64encode(data).decode()


PLAIN = [
    ("null", None), ("({a: [1, 'x', true, null]})", {"a": [1, "x", True, None]}), ("0", 0), ("-1.5", -1.5),
    ("({$date: 1})", {"$date": 1}), ("'\\ud800'", "\ud800"), ("[1e21, 5e-324]", [1e21, 5e-324]),
    ("Object.assign(Object.create(null), {a: 1})", {"a": 1}),
]

# Long enough to go out as the engine keeps them: in bytes, with characters of Latin-1, and wide.
LONG = [
    ("'a'.repeat(1000)", "a" * 1000), ("'caf\\u00e9 \\u00ff\\u0080'.repeat(500)", "caf\u00e9 \u00ff\u0080" * 500),
    ("'x'.repeat(600) + '\\u00e4'", "x" * 600 + "\u00e4"), ("'\\u4e00' + 'a'.repeat(600)", "\u4e00" + "a" * 600),
    ("['\\ud83d\\ude00'.repeat(300), '\\u00e9'.repeat(300)]", ["\U0001f600" * 300, "\u00e9" * 300]),
    ("'\\ud800' + 'a'.repeat(600)", "\ud800" + "a" * 600), ("'\\u0000\\u001f'.repeat(300)", "\0\x1f" * 300),
    ("('y'.repeat(3000) + 'z').slice(2000)", "y" * 1000 + "z"),
    ("Array.from({length: 3000}, (_, i) => ({i, half: i / 2, s: 'r\\u00e9' + i, t: [i % 2 === 0, null]}))",
     [{"i": i, "half": i / 2, "s": f"r\u00e9{i}", "t": [i % 2 == 0, None]} for i in range(3000)]),
]

TAGGED = [
    ("[undefined]", [{"$undefined": True}]), ("({a: undefined, b: 1})", {"a": {"$undefined": True}, "b": 1}),
    ("[NaN, Infinity, -Infinity, -0]", [{"$number": n} for n in ("NaN", "Infinity", "-Infinity", "-0")]),
    ("[0n, 1n, -1n, 255n, -256n, -257n]",
     [{"$bigint": str(n)} for n in (0, 1, -1, 255, -256, -257)]),
    ("2n ** 64n", {"$bigint": str(2 ** 64)}), ("-(2n ** 900n)", {"$bigint": str(-(2 ** 900))}),
    ("2n ** 2048n", {"$bigint": hex(2 ** 2048).replace("0x1", "0x01")}),
    ("new Date(0)", {"$date": "1970-01-01T00:00:00.000Z"}), ("new Date(NaN)", {"$date": None}),
    ("new Date(1234567890123)", {"$date": "2009-02-13T23:31:30.123Z"}),
    ("new Date(-1)", {"$date": "1969-12-31T23:59:59.999Z"}),
    ("new Date(Date.UTC(-1, 0))", {"$date": "-000001-01-01T00:00:00.000Z"}),
    ("new Date(8.64e15)", {"$date": "+275760-09-13T00:00:00.000Z"}),
    ("new Date(8.64e15 - 1)", {"$date": "+275760-09-12T23:59:59.999Z"}),
    ("new Uint8Array([1, 2, 255])", {"$bytes": "AQL/"}), ("new Uint8Array(0)", {"$bytes": ""}),
    ("new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", {"$bytes": "AgM="}),
    ("new Int16Array([-1, 2])", {"$Int16Array": b64(struct.pack("<hh", -1, 2))}),
    ("new Float64Array([1.5, NaN])", {"$Float64Array": b64(struct.pack("<dd", 1.5, float("nan")))}),
    ("new Float32Array([1.5])", {"$Float32Array": b64(struct.pack("<f", 1.5))}),
    ("new BigUint64Array([1n])", {"$BigUint64Array": b64(struct.pack("<Q", 1))}),
    ("new Uint8ClampedArray([300])", {"$Uint8ClampedArray": "/w=="}),
    ("new Uint8Array([1, 2]).buffer", {"$ArrayBuffer": "AQI="}),
    ("new Map([['a', 1], [2, new Map()]])", {"$map": [["a", 1], [2, {"$map": []}]]}),
    ("new Set([1, 'x', new Set()])", {"$set": [1, "x", {"$set": []}]}),
    ("/a\\/b/gi", {"$regexp": ["a\\/b", "gi"]}),
    ("[1, , 3]", {"$array": [3, [[0, 1], [2, 3]]]}), ("new Array(5)", {"$array": [5, []]}),
    ("[{$date: 1}, 1n]", [{"$object": {"$date": 1}}, {"$bigint": "1"}]),
    ("[{$date: 1, b: 2}, 1n]", [{"$date": 1, "b": 2}, {"$bigint": "1"}]),
    ("[{['$' + 'x'.repeat(300)]: 1}, 1n]", [{"$object": {"$" + "x" * 300: 1}}, {"$bigint": "1"}]),
    ("class A { x = 1n }; new A()", {"x": {"$bigint": "1"}}),
    ("[new Number(1), new String('s'), new Boolean(false), Object(1n)]", [1, "s", False, {"$bigint": "1"}]),
    ("new Proxy([1n], {})", [{"$bigint": "1"}]), ("({get a() { return 1n }})", {"a": {"$bigint": "1"}}),
    ("({toJSON() { return new Date(0) }})", {"$date": "1970-01-01T00:00:00.000Z"}),
    ("[1n, 'ä€😀'.repeat(20), 'ä']", [{"$bigint": "1"}, "ä€😀" * 20, "ä"]),
    ("[1n, '\\ud800x']", [{"$bigint": "1"}, "\ufffdx"]),
    ("[1n, 0.1, 1e21, 5e-324, 2 ** 53, -(2 ** 53), 1.7976931348623157e308]",
     [{"$bigint": "1"}, 0.1, 1e21, 5e-324, 2 ** 53, -(2 ** 53), 1.7976931348623157e308]),
    ("const o = {a: 1}; [o, o, undefined]", [{"a": 1}, {"a": 1}, {"$undefined": True}]),
    ("[1n, {['__proto__']: 5}]", [{"$bigint": "1"}, {"__proto__": 5}]),
]

REFUSED = [
    ("Symbol('x')", "a symbol"), ("() => 1", "a function"), ("class A {}; A", "a function"),
    ("({rows: [1, 2, 3, {callback() {}}]})", "value.rows[3].callback is a function"),
    ("({a: {'b c': [Symbol()]}})", 'value.a["b c"][0] is a symbol'),
    ("const o = {}; o.self = o; o", "value.self is a cycle back to value"),
    ("const m = new Map(); m.set('k', [m]); m", "value.k[0] is a cycle back to value"),
    ("const s = new Set(); s.add([s]); s", "value[0][0] is a cycle back to value"),
    ("const e = new Error('x'); e.cause = e; e", "value.cause is a cycle back to value"),
    ("let o = {}; for (let i = 0; i < 101; i++) o = {o}; o", "deeper than 100"),
    ("let o = 1n; for (let i = 0; i < 101; i++) o = [o]; o", "deeper than 100"),
    ("[Promise.resolve(1)]", "await it first"), ("new WeakMap()", "a WeakMap"),
    ("(function* () {})()", "Array.from"), ("new DataView(new ArrayBuffer(1))", "a DataView"),
    ("const a = new Uint8Array(8); a.buffer.transfer(); a", "detached"),
    ("const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); proxy", "revoked"),
    ("const m = new Map(); m.set('a', {get x() { m.set('b', 1); return 1n }}); m", "was changed"),
    ("const m = new Map([['a', {get x() { m.delete('b') }}], ['b', 1]]); m", "was changed"),
]


@pytest.mark.parametrize("code, value", PLAIN + LONG)
def test_what_json_says_goes_as_json(vial, code, value):
    result = vial.result("-e", code)
    assert (result["value"], result["value_format"]) == (value, "json")


@pytest.mark.parametrize("code, value", TAGGED)
def test_what_json_cannot_say_keeps_its_identity(vial, code, value):
    result = vial.result("-e", code)
    assert result["error"] is None
    assert (result["value"], result["value_format"]) == (value, "tagged")


@pytest.mark.parametrize("odd, value", [
    ("NaN", {"$number": "NaN"}), ("-0", {"$number": "-0"}), ("-Infinity", {"$number": "-Infinity"}),
    ("undefined", {"$undefined": True}), ("7n", {"$bigint": "7"}), ("new Date(0)", {"$date": "1970-01-01T00:00:00.000Z"}),
])
def test_one_member_among_many_is_not_lost(vial, odd, value):
    """By then the engine has compiled the walk for what it saw of thousands of other rows."""
    make = "Array.from({length: 20000}, (_, i) => ({i, x: i * 1.5, s: 'x', l: [i, null]}))"
    result = vial.result("-e", f"const rows = {make}; rows[19999].l[1] = {odd}; rows")
    assert result["value_format"] == "tagged"
    assert result["value"][19999]["l"] == [19999, value]
    result = vial.result("-e", f"const rows = {make}; rows[19998].x = {odd}; rows")
    assert result["value_format"] == "tagged"
    assert result["value"][19998]["x"] == value


def test_the_ends_of_the_numbers_are_plain(vial):
    code = "[0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53, -1, 1e-7]"
    result = vial.result("-e", code)
    assert result["value_format"] == "json"
    assert result["value"] == [0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53, -1, 1e-7]


def test_an_error_keeps_name_message_stack_and_cause(vial):
    value = vial.value("new TypeError('x', {cause: new RangeError('y')})")["$error"]
    assert (value["name"], value["message"]) == ("TypeError", "x")
    assert value["stack"].startswith("TypeError: x\n    at [eval]:1")
    assert value["cause"]["$error"]["name"] == "RangeError"


@pytest.mark.parametrize("code, words", REFUSED)
def test_the_rest_is_an_error_that_names_the_place(vial, code, words):
    result = vial.result("-e", code)
    assert result["status"] == "exception"
    assert words in result["error"]["message"]


@pytest.mark.parametrize("flags, code", [
    (["--value-bytes", 64], "'x'.repeat(100)"), (["--value-bytes", 64], "new Uint8Array(100)"),
    (["--value-bytes", 1000], "const a = [1n]; for (let i = 0; i < 20; i++) a.push([...a]); a"),
    (["--value-bytes", 64], "2n ** 10000n"), (["--value-bytes", 100], "const a = []; a[2 ** 32 - 2] = 1; "
                                              "for (let i = 0; i < 200; i++) a[i] = 1; a"),
])
def test_the_size_limit_is_named(vial, flags, code):
    result = vial.result(*flags, "-e", code)
    assert result["status"] == "exception"
    assert "--value-bytes" in result["error"]["message"]


@pytest.mark.parametrize("hostile", [
    "Object.prototype.toJSON = () => 'forged'", "Date.prototype.toISOString = () => 'forged'",
    "Map.prototype.forEach = () => {}", "Array.prototype[Symbol.iterator] = null",
    "Object.defineProperty(Map.prototype, 'size', {get: () => 7})", "Uint8Array.prototype.set = () => {}",
    "Object.defineProperty(Array.prototype, 0, {set() { throw 1 }, configurable: true})",
    "BigInt.prototype.toString = () => 'ff'", "globalThis.Uint8Array = globalThis.Map = undefined",
    "String.prototype.charCodeAt = () => 65", "Math.floor = Math.max = () => 0",
    "Object.keys = Reflect.ownKeys = () => []", "Object.prototype.value = 1; Object.prototype.get = () => 2",
    "Function.prototype.call = Function.prototype.apply = () => 'forged'",
    "Error.prototype.name = 'forged'",
])
def test_a_hostile_realm_cannot_change_what_arrives(vial, hostile):
    value = vial.value("const made = {d: new Date(0), m: new Map([[1, new Set([2])]]), n: 5n, a: [1, 'x'], "
                       f"b: new Uint8Array([7]), u: undefined, t: 'ä'.repeat(30)}}; {hostile}; made")
    assert value == {"d": {"$date": "1970-01-01T00:00:00.000Z"}, "m": {"$map": [[1, {"$set": [2]}]]},
                     "n": {"$bigint": "5"}, "a": [1, "x"], "b": {"$bytes": "Bw=="}, "u": {"$undefined": True},
                     "t": "ä" * 30}


def test_cbor_comes_in(vial, folder):
    # {"d": 1(0), "m": 259({1: "x"}), "b": h'0102', "n": 2(h'0100'), "u": undefined, "s": 258([1]), "f": 1.5 (half)}
    data = bytes.fromhex("a7" "6164c100" "616dd90103a1016178" "6162420102" "616ec2420100" "6175f7" "6173d9010281" "01"
                         "6166f93e00")
    (folder / "in.cbor").write_bytes(data)
    value = vial.result("--input-cbor", folder / "in.cbor", "-e",
                        "[input.d instanceof Date, input.m.get(1), input.b[1], input.n === 256n, 'u' in input, "
                        "input.s.has(1), input.f]")["value"]
    assert value == [True, "x", 2, True, True, True, 1.5]


@pytest.mark.parametrize("data, why", [
    ("", "early"), ("01" "01", "behind"), ("9f01ff", "indefinite"), ("61ff", "UTF-8"), ("d9ffff01", "unknown tag"),
    ("9bffffffffffffffff", "beyond the end"), ("81" * 400 + "01", "levels"), ("c2" "01", "BigInt"),
    ("1bffffffffffffffff", "integer"), ("a10102", "text"), ("d84541ff", "element"),
])
def test_cbor_that_is_none_is_refused(vial, folder, data, why):
    (folder / "in.cbor").write_bytes(bytes.fromhex(data))
    done = vial("run", "--input-cbor", folder / "in.cbor", "-e", "1")
    assert done.returncode == 2
    assert why in done.stderr
