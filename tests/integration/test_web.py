"""test_web.py - the web's globals in a run: cases against answers recorded from Node, and what is vial's own."""

import json
import shutil
import subprocess

import pytest

import surface_cases

pytestmark = pytest.mark.guest

WEB = ["clone", "encoding", "events_web", "fetch", "performance", "streams_web", "subtle", "url"]


def differences(vial, group, folder):
    """The cases of a group that vial answers in another way, as readable lines."""
    path = folder / f"{group}.js"
    path.write_text(surface_cases.program(group))
    done = vial("run", path)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    cases = surface_cases.read(group)
    assert len(got) == len(cases)
    return [f"{expression}: {answer} instead of {wanted}"
            for (expression, _), answer, wanted in zip(cases, got, surface_cases.recorded(group)) if answer != wanted]


@pytest.mark.parametrize("group", WEB)
def test_answers_are_nodes(vial, group, folder):
    assert differences(vial, group, folder) == []


def node_major():
    if shutil.which("node") is None:
        return 0
    return int(subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout[1:].split(".")[0])


@pytest.mark.skipif(node_major() != 20, reason="the answers were recorded from Node 20")
@pytest.mark.parametrize("group", surface_cases.groups())
def test_the_recorded_answers_are_what_node_says(group):
    recorded = json.loads((surface_cases.DIRECTORY / f"{group}.answers").read_text())
    assert surface_cases.from_node(group) == recorded


@pytest.mark.parametrize("name", ["fetch", "XMLHttpRequest", "WebSocket"])
def test_the_network_is_absent_and_the_hint_says_so(vial, name):
    result = vial.result("-e", f"new {name}('http://example.com')")
    assert result["error"]["name"] == "ReferenceError"
    assert "network" in result["error"]["hint"] and "--net" in result["error"]["hint"]
    assert vial.value(f"typeof {name}") == "undefined"


@pytest.mark.parametrize("code, value", [
    ("URL = 5; URL", 5),
    ("globalThis.Blob = 'mine'; Blob", "mine"),
    ("var Headers = 3; Headers", 3),
    ("function structuredClone() { return 1; } structuredClone({})", 1),
    ("delete globalThis.TextEncoder; typeof TextEncoder", "undefined"),
    ("class Request {} typeof new Request().url", "undefined"),
])
def test_a_program_may_have_the_names_for_itself(vial, code, value):
    assert vial.value(code) == value


@pytest.mark.parametrize("code, value", [
    ("let URL = 7; new Request('http://x/').url", "http://x/"),
    ("const TextEncoder = 1; new Response('abc').text()", "abc"),
    ("globalThis.ReadableStream = null; new Blob(['x']).stream().locked", False),
    ("Promise.prototype.constructor; delete globalThis.URL; new (require('url').URL)('http://a').host", "a"),
])
def test_names_of_the_program_do_not_reach_the_surface(vial, code, value):
    assert vial.value(code) == value


def test_globals_are_hidden_and_become_plain_properties(vial):
    assert vial.value("Object.keys(globalThis)") == []
    assert vial.value("URL; const { get, writable, enumerable, configurable } = "
                      "Object.getOwnPropertyDescriptor(globalThis, 'URL'); "
                      "[typeof get, writable, enumerable, configurable]") == ["undefined", True, False, True]


@pytest.mark.parametrize("code, frames", [
    ("function own() {\n new URL('bad');\n}\nown()", ["own", ""]),
    ("[1].forEach(function each() { structuredClone(() => {}); })", ["each", ""]),
    ("function late() { atob('*'); }\nsetTimeout(function tick() { late(); })", ["late", "tick"]),
])
def test_errors_show_the_frames_of_the_program_only(vial, code, frames):
    error = vial.result("-e", code)["error"]
    assert [frame["function"] for frame in error["frames"]] == frames
    assert "surface" not in error["stack"] and "native" not in error["stack"]


def test_what_a_listener_throws_ends_the_run(vial):
    result = vial.result("-e", "const t = new EventTarget(); t.addEventListener('x', () => { throw new TypeError('in it'); });"
                         "t.dispatchEvent(new Event('x')); console.log('after')")
    assert result["status"] == "exception" and result["error"]["message"] == "in it"
    assert result["stdout"] == "after\n"


@pytest.mark.parametrize("code, value", [
    ("new URL('http://a.b/c?d')", {"$url": "http://a.b/c?d"}), ("Buffer.from('ab')", {"$bytes": "YWI="}),
    ("({ when: new Date(0), url: new URL('http://x') })",
     {"when": {"$date": "1970-01-01T00:00:00.000Z"}, "url": {"$url": "http://x/"}}),
    ("({ __proto__: URL.prototype })", {}), ("class U extends URL {}; new U('x:y')", {"$url": "x:y"}),
])
def test_values_of_the_surface_cross_to_the_host(vial, code, value):
    assert vial.value(code) == value


def test_random_numbers_differ_between_runs(vial):
    code = "[crypto.randomUUID(), require('crypto').randomBytes(16).toString('hex')]"
    runs = [vial.value(code) for _ in range(5)]
    assert len({text for run in runs for text in run}) == 10


def test_arrays_that_were_decoded_can_still_be_transferred(vial):
    code = ("const b = new Uint8Array([97, 98]); new TextDecoder().decode(b); crypto.getRandomValues(b);"
            "const c = structuredClone(b, { transfer: [b.buffer] }); [b.length, c.length]")
    assert vial.value(code) == [0, 2]


@pytest.mark.parametrize("code", [
    "new TextDecoder().decode(new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 })).subarray(4)).length",
    "const b = new ArrayBuffer(8, { maxByteLength: 16 }); const u = new Uint8Array(b, 4, 4); b.resize(2);"
    "new TextDecoder().decode(u).length + new TextEncoder().encodeInto('abc', u).written + 4",
    "const u = new Uint8Array(4); u.buffer.transfer(); new TextDecoder().decode(u).length + 4",
    "const u = new Uint8Array(4); u.buffer.transfer(); crypto.getRandomValues(u).length + 4",
])
def test_arrays_that_shrink_or_are_gone_are_safe(vial, code):
    assert vial.value(code) == 4


def test_large_texts_are_converted(vial):
    code = ("const s = 'aé€😀'.repeat(1 << 18); const b = new TextEncoder().encode(s);"
            "[b.length, new TextDecoder().decode(b) === s, Buffer.from(s, 'utf16le').toString('utf16le') === s]")
    assert vial.value(code) == [10 << 18, True, True]
