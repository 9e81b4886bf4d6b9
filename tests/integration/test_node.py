"""test_node.py - Node's modules in a run: cases against answers recorded from Node, and what is vial's own."""

import pytest

import surface_cases
from test_web import WEB, differences

pytestmark = pytest.mark.guest

NODE = [group for group in surface_cases.groups() if group not in WEB]
ABSENT = ["child_process", "cluster", "dgram", "dns", "dns/promises", "http", "http2", "https", "inspector", "net",
          "readline", "repl", "sqlite", "test", "tls", "v8", "vm", "wasi", "worker_threads"]


@pytest.mark.parametrize("group", NODE)
def test_answers_are_nodes(vial, group, folder):
    assert differences(vial, group, folder) == []


def test_there_are_cases_for_everything():
    assert set(NODE) == {"assert", "buffer", "crypto", "events", "path", "stream", "text_modules", "timers", "util",
                         "zlib"}
    assert sum(len(surface_cases.read(group)) for group in surface_cases.groups()) > 1000


def test_every_module_loads_under_both_names(vial):
    code = ("require('module').builtinModules.filter(n => require(n) !== require('node:' + n) || require(n) === undefined)")
    assert vial.value(code) == []


@pytest.mark.parametrize("name", ABSENT)
def test_absent_modules_load_and_fail_on_use(vial, name):
    code = f"""
        const found = require("node:{name}");
        const works = {{ cluster: [], net: ["isIP", "isIPv4", "isIPv6"] }};
        Object.keys(found).filter(k => typeof found[k] === "function" && !(works["{name}"] ?? []).includes(k)).map(k => {{
            try {{ found[k](); }} catch (error) {{
                return error.message.includes(`.${{k}} is not available in vial: `) && error.code;
            }}
        }})"""
    answers = vial.value(code)
    assert answers and set(answers) == {"ERR_NOT_AVAILABLE"}


@pytest.mark.parametrize("code, words", [
    ("require('child_process').spawn('ls')", ["child_process.spawn", "one process", "host function"]),
    ("new (require('worker_threads').Worker)('x.js')", ["worker_threads.Worker", "one thread"]),
    ("class Agent extends require('http').Agent {}; new Agent()", ["http.Agent", "network"]),
    ("require('http').get('http://x')", ["http.get", "network", "--file"]),
    ("require('zlib').brotliCompressSync('x')", ["brotli", "gzip"]),
    ("require('crypto').generateKeyPairSync('rsa')", ["crypto.generateKeyPairSync", "host function"]),
    ("require('perf_hooks').monitorEventLoopDelay()", ["monitorEventLoopDelay"]),
    ("require('async_hooks').createHook({})", ["createHook", "AsyncLocalStorage"]),
    ("URL.createObjectURL(new Blob([]))", ["createObjectURL", "blob.text()"]),
])
def test_what_is_missing_says_why_and_what_else_to_do(vial, code, words):
    message = vial.result("-e", code)["error"]["message"]
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("code", [
    "const { URL } = require('url'); new URL('http://a').host === 'a'",
    "const process = require('process'); process.platform === 'linux'",
    "const { Buffer } = require('buffer'); Buffer.from('x').length === 1",
    "const { performance } = require('perf_hooks'); performance.now() >= 0",
    "const { TextEncoder, TextDecoder } = require('util'); new TextDecoder().decode(new TextEncoder().encode('é')) === 'é'",
    "const crypto = require('crypto'); crypto.createHash('md5').update('').digest('hex').length === 32",
    "const console = require('console'); console.log('x') === undefined",
    "const { setTimeout } = require('timers/promises'); await setTimeout(1, true)",
    "const assert = require('assert').strict, path = require('path'), util = require('util'), events = require('events');"
    "assert.equal(path.join('a', 'b'), 'a/b') === undefined",
    "const { ReadableStream } = require('stream/web'); new ReadableStream().locked === false",
])
def test_the_usual_first_lines_of_programs(vial, code):
    assert vial.value(code) is True


def test_console_and_inspect_honour_custom_inspection(vial):
    code = ("class P { [require('util').inspect.custom](depth, options, inspect) { return `P<${inspect({ a: 1 }, options)}>`; } }"
            "console.log(new P(), [new P()])")
    assert vial("run", "-e", code).stdout == "P<{ a: 1 }> [ P<{ a: 1 }> ]\n"


def test_an_unhandled_error_event_ends_the_run(vial):
    error = vial.result("-e", "new (require('events'))().emit('error', new RangeError('nobody listens'))")["error"]
    assert (error["name"], error["message"]) == ("RangeError", "nobody listens")


def test_an_assertion_says_where_and_what(vial):
    error = vial.result("-e", "const assert = require('assert');\nfunction check() {\n  assert.strictEqual(1, 2);\n}\ncheck()")["error"]
    assert error["name"] == "AssertionError" and "1 !== 2" in error["message"]
    assert error["line"] == 3 and [frame["function"] for frame in error["frames"]] == ["check", ""]


@pytest.mark.parametrize("members", [
    "require('os').hostname()", "process.cwd()", "process.argv", "process.env", "process.pid", "process.execPath",
])
def test_nothing_of_the_host_shows(vial, members):
    text = str(vial.value(members))
    assert "root" not in text and "/tmp/" not in text and "vial-cell" not in text


def test_async_context_does_not_change_what_programs_see(vial):
    code = """
        const { AsyncLocalStorage } = require("async_hooks");
        const store = new AsyncLocalStorage();
        const seen = [];
        await store.run(1, async () => { await null; seen.push(store.getStore()); });
        class Mine extends Promise {}
        [seen[0], Promise.resolve() instanceof Promise, Promise.resolve().constructor === Promise,
         Mine.resolve().then(() => {}).constructor === Mine, Promise.prototype.then.name, Promise.prototype.then.length,
         store.getStore() === undefined]"""
    assert vial.value(code) == [1, True, True, True, "then", 2, True]


def test_rejections_are_still_noticed_with_async_context(vial):
    code = ("const { AsyncLocalStorage } = require('async_hooks'); new AsyncLocalStorage().run(1, () => {});"
            "Promise.reject(new TypeError('lost')); setTimeout(() => {}, 5)")
    assert vial.result("-e", code)["error"]["message"] == "lost"


def test_names_of_the_language_that_a_program_takes_for_itself(vial):
    """A top-level class is visible to all scripts of a realm; the surface must not see it."""
    value = vial.value("""
        class Map { constructor(width) { this.width = width } } class Set {} class Symbol {} class Math {}
        class TypeError {} class String {} class Object {} class Array {} class Number {} class Function {}
        new AbortController().signal.addEventListener("abort", () => 0);
        require("assert").deepStrictEqual({a: [1]}, {a: [1]});
        let thrown; try { new URL("bad") } catch (error) { thrown = error.message }
        [new URL("http://a/b?c=d").searchParams.get("c"), Buffer.from("x").toString("hex"), thrown.slice(0, 11),
            require("crypto").createHash("md5").update("x").digest("hex").slice(0, 4), new Map(3).width]""")
    assert value == ["d", "78", "Invalid URL", "9dd4", 3]


def test_what_programs_take_apart_to_find_themselves(vial):
    assert vial.value("[__filename, __dirname]") == ["/home/vial/[eval]", "/home/vial"]
    assert vial.value("import { fileURLToPath } from 'node:url'; import path from 'node:path';"
                      "export default path.dirname(fileURLToPath(import.meta.url))") == "/home/vial"
    assert vial.value("export default import.meta.url === `file://${process.argv[1]}`") is True


def test_all_of_a_stream_at_once(vial):
    assert vial.value("import { text, json } from 'node:stream/consumers'; import { Readable } from 'node:stream';"
                      "export default [await text(Readable.from(['a', 'b'])), await json(Readable.from(['[1]']))]"
                      ) == ["ab", [1]]
