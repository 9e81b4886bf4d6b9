"""test_modules.py - ES modules, CommonJS and JSON modules as programs use them.

A case is a program, the modules that come with it, and what must come of it: a value, or a Fails. The areas
are those of the public conformance tests (module-code, dynamic-import, top-level-await); the cases are ours.
"""

import os
import pathlib
import tempfile

import pytest

pytestmark = pytest.mark.guest


class Fails:
    """What an error must be like: only what is given is compared; texts are parts of what is there."""

    def __init__(self, name, message="", **more):
        self.name = name
        self.message = message
        self.more = more


class Prints:
    """What a program must print to stdout, as lines."""

    def __init__(self, *lines):
        self.text = "".join(f"{line}\n" for line in lines)


def run(vial, main, modules=None, *options):
    """The result of a program with its modules."""
    with tempfile.TemporaryDirectory(prefix="vial-modules-") as name:
        folder = pathlib.Path(name)
        words = []
        for i, (module, source) in enumerate((modules or {}).items()):
            path = folder / f"{i}.js"
            path.write_bytes(source if isinstance(source, bytes) else source.encode())
            words += ["--module-file", f"{module}={path}"]
        path = folder / "main.js"
        path.write_bytes(main if isinstance(main, bytes) else main.encode())
        result = vial.result(*words, *options, "-", stdin=path.read_text(encoding="utf-8"))
    return result


def check(result, expected):
    if isinstance(expected, Fails):
        assert result["status"] == "exception", result
        error = result["error"]
        assert error["name"] == expected.name, error
        assert expected.message in error["message"], error
        for key, value in expected.more.items():
            if key in ("hint", "source_line", "stack"):
                assert value in (error[key] or ""), error
            else:
                assert error[key] == value, error
        return
    assert result["status"] == "ok", result["error"]
    if isinstance(expected, Prints):
        assert result["stdout"] == expected.text
    else:
        assert result.get("value") == expected


LIB = "export const a = 1; export let b = 'two'; export function f() { return 3 } export class C {} " \
      "export default 'd'"

# ---- import and export in every form ----

FORMS = [
    ("default", "import d from './lib.js'; d", {"./lib.js": LIB}, "d"),
    ("named", "import {a, b} from './lib.js'; [a, b]", {"./lib.js": LIB}, [1, "two"]),
    ("renamed", "import {a as x, f as g} from './lib.js'; x + g()", {"./lib.js": LIB}, 4),
    ("default by name", "import {default as x} from './lib.js'; x", {"./lib.js": LIB}, "d"),
    ("default and named", "import d, {a} from './lib.js'; [d, a]", {"./lib.js": LIB}, ["d", 1]),
    ("default and namespace", "import d, * as ns from './lib.js'; [d, ns.a]", {"./lib.js": LIB}, ["d", 1]),
    ("namespace", "import * as ns from './lib.js'; Object.keys(ns)", {"./lib.js": LIB},
     ["C", "a", "b", "default", "f"]),
    ("for its effect", "import './lib.js'; globalThis.x", {"./lib.js": "globalThis.x = 5; export {}"}, 5),
    ("nothing by name", "import {} from './lib.js'; globalThis.x", {"./lib.js": "globalThis.x = 5; export {}"},
     5),
    ("trailing commas", "import {a,} from './lib.js'; a", {"./lib.js": "const a = 1; export {a,}"}, 1),
    ("words that are names", "import from, {as as as} from './lib.js'; [from, as]",
     {"./lib.js": "export default 1; export const as = 2"}, [1, 2]),
    ("a string name", "import {'a b' as x} from './lib.js'; x",
     {"./lib.js": "const y = 7; export {y as 'a b'}"}, 7),
    ("an escaped string name", "import {'a\\u0062\\x63' as x} from './lib.js'; x",
     {"./lib.js": "const y = 7; export {y as 'abc'}"}, 7),
    ("an escaped name", "import {\\u0061 as x} from './lib.js'; x", {"./lib.js": LIB}, 1),
    ("an escaped specifier", "import {a} from './l\\u0069b.js'; a", {"./lib.js": LIB}, 1),
    ("many lines", "import {\n  a, // one\n  /* two */ b\n}\nfrom\n'./lib.js'\n;[a, b]", {"./lib.js": LIB},
     [1, "two"]),
    ("without semicolons", "let x = 1\nimport {f} from './lib.js'\nlet y = x\nexport {y}\n[f()]",
     {"./lib.js": LIB}, [3]),
    ("a semicolon where an import was", "let x = f\nimport {g} from './lib.js'\n;(() => {})()\nfunction f() {}\nx",
     {"./lib.js": "export let g"}, Fails("TypeError", "value is a function")),
    ("before what it imports", "export const r = a + 1; import {a} from './lib.js'; r", {"./lib.js": LIB}, 2),
    ("list of exports", "import {x, y} from './lib.js'; [x, y]",
     {"./lib.js": "export {a as x, b as y}; const a = 1, b = 2"}, [1, 2]),
    ("exported patterns", "import * as ns from './lib.js'; [Object.keys(ns), ns.c, ns.rest]",
     {"./lib.js": "export const {a, b: {c = 5} = {}, ...rest} = {a: 1, x: 2}, [d, , e = d] = [3]"},
     [["a", "c", "d", "e", "rest"], 5, {"x": 2}]),
    ("exported function, generator and async", "import {f, g, h, i} from './lib.js'; "
     "[f(), [...g()], await h(), f.name, i.name]",
     {"./lib.js": "export function f() { return 1 } export function* g() { yield 2 } "
                  "export async function h() { return 3 } export async function* i() {}"},
     [1, [2], 3, "f", "i"]),
    ("exported class", "import {A} from './lib.js'; new A().x + A.name", {"./lib.js": "export class A { x = 1 }"},
     "1A"),
    ("exported var, let and const", "import {x, y, z} from './lib.js'; [x, y, z]",
     {"./lib.js": "export var x = 1; export let y = 2; export const z = 3"}, [1, 2, 3]),
    ("default expression", "import d from './lib.js'; d", {"./lib.js": "export default 1 + 2"}, 3),
    ("default object", "import d from './lib.js'; d", {"./lib.js": "export default {a: 1}\n;[1]"}, {"a": 1}),
    ("default function", "import d from './lib.js'; [d(), d.name]",
     {"./lib.js": "export default function () { return 1 }"}, [1, "default"]),
    ("default function with a name", "import d from './lib.js'; [d(), d.name]",
     {"./lib.js": "export default function foo() { return foo.name }"}, ["foo", "foo"]),
    ("default generator", "import d from './lib.js'; [[...d()], d.name]",
     {"./lib.js": "export default function* () { yield 1 }"}, [[1], "default"]),
    ("default async function", "import d from './lib.js'; [await d(), d.name]",
     {"./lib.js": "export default async function () { return 1 }"}, [1, "default"]),
    ("default arrow", "import d from './lib.js'; [d(), d.name]", {"./lib.js": "export default () => 1"},
     [1, "default"]),
    ("default in parentheses", "import d from './lib.js'; [d(), d.name]",
     {"./lib.js": "export default (function () { return 1 })"}, [1, "default"]),
    ("default class", "import d from './lib.js'; [new d().x, d.name]",
     {"./lib.js": "export default class { x = 1 }\n[1]"}, [1, "default"]),
    ("default class with a name", "import d from './lib.js'; d.name", {"./lib.js": "export default class Foo {}"},
     "Foo"),
    ("default class with its own name member", "import d from './lib.js'; d.name()",
     {"./lib.js": "export default class { static name() { return 'own' } }"}, "own"),
    ("default function before a line in parentheses", "import d from './lib.js'; [d(), globalThis.x]",
     {"./lib.js": "export default function () { return 1 }\n(globalThis.x = 2)"}, [1, 2]),
    ("default function used before", "import d from './lib.js'; d",
     {"./lib.js": "export {r as default}; const r = f(); function f() { return 4 }"}, 4),
    ("comments between the words", "import d from './lib.js'; d",
     {"./lib.js": "export/* a */default/* b\n */8"}, 8),
    ("re-export by name", "import {x} from './mid.js'; x",
     {"./mid.js": "export {a as x} from './lib.js'", "./lib.js": LIB}, 1),
    ("re-export of the default", "import {x, default as y} from './mid.js'; [x, y]",
     {"./mid.js": "export {default as x, a as default} from './lib.js'", "./lib.js": LIB}, ["d", 1]),
    ("re-export of everything", "import * as ns from './mid.js'; Object.keys(ns)",
     {"./mid.js": "export * from './lib.js'; export const z = 1", "./lib.js": LIB}, ["C", "a", "b", "f", "z"]),
    ("re-export as a namespace", "import {ns} from './mid.js'; ns.a",
     {"./mid.js": "export * as ns from './lib.js'", "./lib.js": LIB}, 1),
    ("re-export as a namespace called default", "import ns from './mid.js'; ns.a",
     {"./mid.js": "export * as default from './lib.js'", "./lib.js": LIB}, 1),
    ("re-export with string names", "import {'x y' as z} from './mid.js'; z",
     {"./mid.js": "export {'a b' as 'x y'} from './lib.js'", "./lib.js": "let q = 1; export {q as 'a b'}"}, 1),
    ("re-export of what is imported", "import {a, n} from './mid.js'; [a, n.a]",
     {"./mid.js": "import {a} from './lib.js'; import * as n from './lib.js'; export {a, n}", "./lib.js": LIB},
     [1, 1]),
    ("own name before star", "import {a} from './mid.js'; a",
     {"./mid.js": "export * from './lib.js'; export const a = 'own'", "./lib.js": LIB}, "own"),
    ("two stars with one name are ambiguous", "import {a} from './mid.js'; a",
     {"./mid.js": "export * from './x.js'; export * from './y.js'", "./x.js": "export const a = 1",
      "./y.js": "export const a = 2"}, Fails("SyntaxError", "ambiguous")),
    ("an ambiguous name is in no namespace", "import * as ns from './mid.js'; Object.keys(ns)",
     {"./mid.js": "export * from './x.js'; export * from './y.js'", "./x.js": "export const a = 1, b = 1",
      "./y.js": "export const a = 2, c = 2"}, ["b", "c"]),
    ("two stars that lead to one variable", "import {a} from './mid.js'; a",
     {"./mid.js": "export * from './x.js'; export * from './y.js'", "./x.js": "export * from './lib.js'",
      "./y.js": "export {a} from './lib.js'", "./lib.js": LIB}, 1),
    ("a hashbang", "#!/usr/bin/env node\nimport {a} from './lib.js'; a", {"./lib.js": "#!x\nexport const a = 1"}, 1),
    ("names of objects", "import {__proto__ as p, constructor as c} from './lib.js'; [p, c]",
     {"./lib.js": "const x = 1; export {x as __proto__, x as constructor}"}, [1, 1]),
]

# ---- bindings ----

BINDINGS = [
    ("live", "import {n, add} from './lib.js'; const before = n; add(); add(); [before, n]",
     {"./lib.js": "export let n = 0; export function add() { n++ }"}, [0, 2]),
    ("live through a namespace", "import * as ns from './lib.js'; ns.add(); ns.n",
     {"./lib.js": "export let n = 0; export function add() { n++ }"}, 1),
    ("live through a re-export", "import {x, add} from './mid.js'; add(); x",
     {"./mid.js": "export {n as x, add} from './lib.js'",
      "./lib.js": "export let n = 0; export function add() { [n] = [n + 5] }"}, 5),
    ("live when eval assigns", "import {n, set} from './lib.js'; set(); n",
     {"./lib.js": "export let n = 0; export function set() { eval('n = 9') }"}, 9),
    ("live by a loop", "import {n, set} from './lib.js'; set(); n",
     {"./lib.js": "export let n = 0; export function set() { for (n of [1, 2]); }"}, 2),
    ("live default of a function", "import f, {set} from './lib.js'; set(); f",
     {"./lib.js": "export default function f() {} export function set() { f = 'new' }"}, "new"),
    ("fixed default of a variable", "import d, {set} from './lib.js'; set(); d",
     {"./lib.js": "let x = 1; export default x; export function set() { x = 2 }"}, 1),
    ("read only", "import {a} from './lib.js'; a = 2", {"./lib.js": LIB}, Fails("TypeError", line=1)),
    ("read only when live", "import {n, add} from './lib.js'; n = 2",
     {"./lib.js": "export let n = 0; export function add() { n++ }"}, Fails("TypeError", line=1)),
    ("read only namespace", "import * as ns from './lib.js'; ns.a = 2", {"./lib.js": LIB}, Fails("TypeError")),
    ("no new members of a namespace", "import * as ns from './lib.js'; ns.zzz = 2", {"./lib.js": LIB},
     Fails("TypeError")),
    ("no deleting from a namespace", "import * as ns from './lib.js'; delete ns.a", {"./lib.js": LIB},
     Fails("TypeError")),
    ("a namespace is what it is", "import * as ns from './lib.js'; import * as again from './lib.js'; "
     "[Object.getPrototypeOf(ns), ns[Symbol.toStringTag], Object.isExtensible(ns), ns === again, 'a' in ns, "
     "'z' in ns, String(Object.prototype.toString.call(ns))]",
     {"./lib.js": LIB}, [None, "Module", False, True, True, False, "[object Module]"]),
    ("a printed namespace", "import * as ns from './lib.js'; console.log(ns)",
     {"./lib.js": "export const b = [1], a = 'x'"}, Prints("[Module: null prototype] { a: 'x', b: [ 1 ] }")),
    ("a printed live namespace", "import * as ns from './lib.js'; console.log(ns)",
     {"./lib.js": "export let n = 1; export function set() { n++ }"},
     Prints("[Module: null prototype] { n: 1, set: [Function: set] }")),
    ("shadowed", "import {a} from './lib.js'; function f(a) { return a } [f(5), a, (() => { let a = 6; return a })()]",
     {"./lib.js": LIB}, [5, 1, 6]),
    ("shadowed when live", "import {n, add} from './lib.js'; function f(n) { n = 7; return n } [f(5), n]",
     {"./lib.js": "export let n = 0; export function add() { n++ }"}, [7, 0]),
    ("this of an imported function", "import {f} from './lib.js'; f()",
     {"./lib.js": "export function f() { return this === undefined }"}, True),
    ("this of a live function", "import {f, n, add} from './lib.js'; const t = f`x`; [f(), f?.(), t]",
     {"./lib.js": "export let n = 0; export function add() { n++; f = 0 }\n"
                  "export function f() { return this === undefined }"}, [True, True, True]),
    ("this at the top", "import './lib.js'; [this === undefined, globalThis.t]",
     {"./lib.js": "globalThis.t = this === undefined; export {}"}, [True, True]),
    ("strict", "import './lib.js'; undeclared = 1", {"./lib.js": "export {}"}, Fails("ReferenceError")),
    ("own scope", "import './lib.js'; var x = 1; [typeof globalThis.x, typeof y]", {"./lib.js": "export var y = 1"},
     ["undefined", "undefined"]),
    ("typeof an import", "import {a} from './lib.js'; typeof a", {"./lib.js": LIB}, "number"),
    ("run once", "import './a.js'; import './b.js'; globalThis.n",
     {"./a.js": "import './lib.js'", "./b.js": "import './lib.js'; export {}",
      "./lib.js": "globalThis.n = (globalThis.n ?? 0) + 1; export {}"}, 1),
    ("in order", "import './a.js'; import './b.js'; console.log('main')",
     {"./a.js": "import './c.js'; console.log('a')", "./b.js": "import './c.js'; console.log('b'); export {}",
      "./c.js": "console.log('c'); export {}"}, Prints("c", "a", "b", "main")),
]

# ---- cycles ----

CYCLES = [
    ("of one", "import {f} from './a.js'; f()",
     {"./a.js": "import {x as y} from './a.js'; export const x = 5; export function f() { return y }"}, 5),
    ("of one that declares what it imports", "import {f} from './a.js'; f()",
     {"./a.js": "import {x} from './a.js';\nexport const x = 5; export function f() { return x }"},
     Fails("SyntaxError", "twice: 'x'", file="./a.js", line=2, column=14)),
    ("of two", "import {a} from './a.js'; a()",
     {"./a.js": "import {b} from './b.js'; export function a(n = 3) { return n ? b(n - 1) + 'a' : '' }",
      "./b.js": "import {a} from './a.js'; export function b(n) { return n ? a(n - 1) + 'b' : '' }"}, "aba"),
    ("functions are there before", "import './a.js'; globalThis.r",
     {"./a.js": "import './b.js'; export function f() { return 'hoisted' }",
      "./b.js": "import {f} from './a.js'; globalThis.r = f()"}, "hoisted"),
    ("default functions are there before", "import './a.js'; globalThis.r",
     {"./a.js": "import './b.js'; export default function () { return 'hoisted' }",
      "./b.js": "import f from './a.js'; globalThis.r = [f(), f.name]"}, ["hoisted", "default"]),
    ("variables are not", "import './a.js'",
     {"./a.js": "import './b.js'; export const x = 1", "./b.js": "import {x} from './a.js';\nx"},
     Fails("ReferenceError", "uninitialized", file="./b.js", line=2, column=2)),
    ("typeof what is not there throws", "import './a.js'",
     {"./a.js": "import './b.js'; export const x = 1", "./b.js": "import {x} from './a.js'; typeof x"},
     Fails("ReferenceError")),
    ("var is undefined before", "import './a.js'; globalThis.r",
     {"./a.js": "import './b.js'; export var x = 1", "./b.js": "import {x} from './a.js'; globalThis.r = [typeof x]"},
     ["undefined"]),
    ("names of one who waits", "import './a.js'; globalThis.r",
     {"./a.js": "import './b.js'; export const x = 1",
      "./b.js": "import * as ns from './a.js'; try { ns.x } catch (e) { "
                "globalThis.r = [e.name, Reflect.ownKeys(ns).length, 'x' in ns] }"}, ["ReferenceError", 2, True]),
    ("with the program", "import {b} from './b.js'; export function a() { return 1 } b()",
     {"./b.js": "export function b() { return 'no way to the program' }"}, "no way to the program"),
    ("of re-exports that lead nowhere", "import {x} from './a.js'; x",
     {"./a.js": "export {x} from './b.js'", "./b.js": "export {x} from './a.js'"}, Fails("SyntaxError", "'x'")),
    ("of stars", "import {x, y} from './a.js'; [x, y]",
     {"./a.js": "export * from './b.js'; export const x = 1", "./b.js": "export * from './a.js'; export const y = 2"},
     [1, 2]),
    ("names declared twice are found", "import {f} from './a.js'",
     {"./a.js": "import {x} from './b.js';\nlet x = 1; export function f() {}",
      "./b.js": "import {f} from './a.js'; export const x = f"}, Fails("SyntaxError", "x", file="./a.js", line=2)),
    ("with await", "import {r} from './a.js'; r",
     {"./a.js": "import {b} from './b.js'; export function f() { return 'f' } await 0; export const r = b",
      "./b.js": "import {f} from './a.js'; export const b = f() + await 'b'"}, "fb"),
]

# ---- kinds of sources ----

KINDS = [
    ("import.meta", "import.meta.url === `file://${process.argv[1]}` && import.meta.main", {}, True),
    ("import.meta of a module", "import m from './x/lib.js'; [m.url, m.main, m.filename, m.dirname]",
     {"./x/lib.js": "export default import.meta"}, ["file:///home/vial/x/lib.js", False, "/home/vial/x/lib.js", "/home/vial/x"]),
    ("import.meta is one object", "import.meta === import\n.\nmeta && import.meta.x === undefined", {}, True),
    ("import.meta can be written to", "import.meta.x = 5; import.meta.x", {}, 5),
    ("import.meta.resolve", "import r from './x/lib.js'; r",
     {"./x/lib.js": "export default [import.meta.resolve('./y.js'), import.meta.resolve('z')]"},
     ["file:///home/vial/x/y.js", "file:///home/vial/node_modules/z"]),
    ("a default export is the value", "export default {a: 1}; 5", {}, {"a": 1}),
    ("a default promise is awaited", "export default Promise.resolve(3)", {}, 3),
    ("else the last expression", "export const x = 1; x + 1", {}, 2),
    ("before what only names", "const x = 1; x + 4; export {x}", {}, 5),
    ("else nothing", "export const x = 1", {}, None),
    ("__return before all", "__return(1); export default 2", {}, 1),
    ("the word export in a text is no export", "const s = 'export default 1'; s.length", {}, 16),
    ("the word import in a comment is no import", "// import x from 'y'\nvar q = 1; globalThis.q", {}, 1),
    ("JSON", "import d from './d.json' with {type: 'json'}; d.a[1]", {"./d.json": '{"a": [1, 2]}'}, 2),
    ("JSON by import()", "(await import('./d.json', {with: {type: 'json'}})).default",
     {"./d.json": '[1]'}, [1]),
    ("JSON is one object", "import d from './d.json' with {type: 'json'}; import e from './d.json' with {'type': 'json'}; "
     "d === e", {"./d.json": "{}"}, True),
    ("JSON has only a default", "import {a} from './d.json' with {type: 'json'}; a", {"./d.json": '{"a": 1}'},
     Fails("SyntaxError", "'a'")),
    ("JSON needs the attribute", "import d from './d.json'; d", {"./d.json": "{}"},
     Fails("TypeError", "type: json", hint="with")),
    ("bad JSON", "import d from './d.json' with {type: 'json'}; d", {"./d.json": "{a}"},
     Fails("SyntaxError", "./d.json")),
    ("other types", "import d from './d.css' with {type: 'css'}; d", {"./d.css": ""}, Fails("TypeError", "'css'")),
    ("other attributes", "import d from './d.json' with {lazy: 'yes'}; d", {"./d.json": ""},
     Fails("SyntaxError", "type")),
    ("JSON by require", "require('./d.json').a + require('./d').a", {"./d.json": '{"a": 2}'}, 4),
    ("a module with await and nothing else is an ES module", "import './lib.js'; globalThis.x",
     {"./lib.js": "globalThis.x = await 5"}, 5),
    ("by its ending", "import './a.mjs'; import './b.cjs'; globalThis.r",
     {"./a.mjs": "globalThis.r = [typeof this]", "./b.cjs": "globalThis.r.push(typeof this)"},
     ["undefined", "object"]),
]

# ---- CommonJS ----

COMMONJS = [
    ("module.exports", "require('./lib.js').a", {"./lib.js": "module.exports = {a: 1}"}, 1),
    ("exports", "require('./lib.js').a", {"./lib.js": "exports.a = 1"}, 1),
    ("without its ending", "require('./lib').a + require('./x').b",
     {"./lib.js": "exports.a = 1", "./x/index.js": "exports.b = 2"}, 3),
    ("a bare name", "require('lodash').a", {"lodash": "exports.a = 1"}, 1),
    ("what it is given", "require('./x/lib.js')",
     {"./x/lib.js": "module.exports = [__filename, __dirname, this === exports, module.id, module.loaded, "
                    "typeof require]"},
     ["./x/lib.js", "./x", True, "./x/lib.js", False, "function"]),
    ("run once", "require('./lib.js'); require('./lib.js'); globalThis.n",
     {"./lib.js": "globalThis.n = (globalThis.n ?? 0) + 1"}, 1),
    ("run again after a failure", "let n = 0; for (const i of [1, 2]) try { require('./lib.js') } catch (e) { n += e } n",
     {"./lib.js": "globalThis.n = (globalThis.n ?? 0) + 1; throw globalThis.n"}, 3),
    ("a cycle sees what is there so far", "require('./a.js').r",
     {"./a.js": "exports.x = 1; exports.r = require('./b.js').seen; exports.y = 2",
      "./b.js": "exports.seen = Object.keys(require('./a.js'))"}, ["x"]),
    ("return at the top", "require('./lib.js').a", {"./lib.js": "exports.a = 1; return; exports.a = 2"}, 1),
    ("sloppy", "require('./lib.js')", {"./lib.js": "undeclaredName = 5; module.exports = undeclaredName"}, 5),
    ("relative to who asks", "require('./x/a.js')",
     {"./x/a.js": "module.exports = require('./b.js')", "./x/b.js": "module.exports = 'b'"}, "b"),
    ("require.resolve", "require.resolve('./lib')", {"./lib.js": ""}, "./lib.js"),
    ("the main module", "require.main === module && typeof exports", {}, "object"),
    ("module.exports of a script", "module.exports = {a: 1}", {}, {"a": 1}),
    ("a name must be a string", "require(5)", {}, Fails("TypeError", "5", line=1)),
    ("imported as default", "import lib from './lib.js'; lib.a", {"./lib.js": "module.exports = {a: 1}"}, 1),
    ("imported by name", "import {a, b} from './lib.js'; [a, b]", {"./lib.js": "exports.a = 1; exports.b = 2"},
     [1, 2]),
    ("imported by a name that it lacks", "import {zz} from './lib.js'; zz", {"./lib.js": "exports.a = 1"},
     Fails("SyntaxError", "'zz'")),
    ("imported as a namespace", "import * as ns from './lib.js'; Object.keys(ns)",
     {"./lib.js": "exports.b = 1; exports.a = 2"}, ["a", "b", "default"]),
    ("a function that is imported", "import f from './lib.js'; f()", {"./lib.js": "module.exports = () => 1"}, 1),
    ("star of CommonJS", "import {a} from './mid.js'; a",
     {"./mid.js": "export * from './lib.js'", "./lib.js": "exports.a = 1"}, 1),
    ("names of a star of CommonJS", "import * as ns from './mid.js'; Object.keys(ns)",
     {"./mid.js": "export * from './lib.js'", "./lib.js": "exports.a = 1"}, ["a"]),
    ("getters are read", "import {a} from './lib.js'; a",
     {"./lib.js": "Object.defineProperty(exports, 'a', {enumerable: true, get: () => 5})"}, 5),
    ("import() of CommonJS", "(await import('./lib.js')).default.a", {"./lib.js": "exports.a = 1"}, 1),
    ("import() in CommonJS", "await require('./x/a.js')()",
     {"./x/a.js": "module.exports = async () => (await import('./b.js')).b", "./x/b.js": "export const b = 'b'"}, "b"),
    ("require of an ES module", "require('./lib.mjs').a", {"./lib.mjs": "export const a = 1"}, 1),
    ("require of an ES module gives its namespace", "require('./lib.js')[Symbol.toStringTag]",
     {"./lib.js": "export const a = 1"}, "Module"),
    ("require of an ES module that names module.exports", "require('./lib.js')",
     {"./lib.js": "const x = 7; export {x as 'module.exports'}"}, 7),
    ("require of a module that awaits", "require('./lib.js')", {"./lib.js": "export const a = await 1"},
     Fails("Error", "top-level await", hint="import()")),
    ("require of a module whose import awaits", "require('./lib.js')",
     {"./lib.js": "import './x.js'", "./x.js": "await 1; export {}"}, Fails("Error", "top-level await")),
    ("require of an ES module in a cycle", "require('./a.js')",
     {"./a.js": "import './b.js'; export const a = 1", "./b.js": "require('./a.js')"}, Fails("Error", "cycle")),
    ("errors of an ES module by require", "require('./a.js')", {"./a.js": "export {}; throw new RangeError('r')"},
     Fails("RangeError", "r", file="./a.js", line=1, column=32)),
    ("no module object in ES modules", "export {}; typeof module", {}, "undefined"),
]

# ---- import() ----

DYNAMIC = [
    ("in a script", "const {a} = await import('./lib.js'); a", {"./lib.js": LIB}, 1),
    ("in a script without await", "import('./lib.js').then(ns => ns.a)", {"./lib.js": LIB}, 1),
    ("in a function", "const f = async (n) => (await import(`./${n}.js`)).a; f('lib')", {"./lib.js": LIB}, 1),
    ("in a module", "export default (await import('./lib.js')).a", {"./lib.js": LIB}, 1),
    ("of what is imported already", "import * as ns from './lib.js'; ns === await import('./lib.js')",
     {"./lib.js": LIB}, True),
    ("relative to who asks", "import {load} from './x/a.js'; (await load()).b",
     {"./x/a.js": "export const load = () => import('./b.js')", "./x/b.js": "export const b = 'b'"}, "b"),
    ("gives a promise", "import('./lib.js') instanceof Promise", {"./lib.js": LIB}, True),
    ("never throws", "let t = 0; const p = import({toString() { throw 5 }}).catch(e => e); [await p, t]", {}, [5, 0]),
    ("asks for a string", "(await import({toString: () => './lib.js'})).a", {"./lib.js": LIB}, 1),
    ("runs later", "let order = 'a'; const p = import('./lib.js'); order += 'b'; await p; order + globalThis.x",
     {"./lib.js": "globalThis.x = 'c'; export {}"}, "abc"),
    ("fails by rejecting", "await import('./none.js').catch(e => e.code)", {}, "ERR_MODULE_NOT_FOUND"),
    ("fails the same each time", "const f = () => import('./lib.js').catch(e => e); (await f()) === (await f())",
     {"./lib.js": "export {}; throw new Error('x')"}, True),
    ("syntax errors reject", "await import('./lib.js').catch(e => e.name)", {"./lib.js": "export {}; let let = 1"},
     "SyntaxError"),
    ("a missing name rejects", "await import('./lib.js').catch(e => e.name)",
     {"./lib.js": "import {none} from './b.js'", "./b.js": "export {}"}, "SyntaxError"),
    ("one that failed to link can be tried again", "await import('./lib.js').catch(e => e.name) + "
     "await import('./lib.js').catch(e => e.name)",
     {"./lib.js": "import {none} from './b.js'", "./b.js": "export {}"}, "SyntaxErrorSyntaxError"),
    ("a namespace with then is thenable", "await import('./lib.js')",
     {"./lib.js": "export function then(resolve) { resolve('then') }"}, "then"),
    ("no handler needed twice", "import('./lib.js').catch(() => {}); 1", {"./lib.js": "export {}; throw 1"}, 1),
    ("unhandled", "import('./none.js'); 1", {}, Fails("Error", "./none.js")),
    ("options must be an object", "await import('./lib.js', 5).catch(e => e.name)", {"./lib.js": LIB}, "TypeError"),
    ("attributes must be strings", "await import('./lib.js', {with: {type: 5}}).catch(e => e.name)",
     {"./lib.js": LIB}, "TypeError"),
    ("without a name", "import()", {}, Fails("SyntaxError", line=1)),
    ("when import is a member", "({import: (x) => x + 1}).import(1)", {}, 2),
    ("with await as a name", "var await = 1; import('./lib.js').then(ns => ns.a + await)", {"./lib.js": LIB}, 2),
    ("of one who waits for us", "import './a.js'; globalThis.r",
     {"./a.js": "globalThis.r = 0; import('./b.js').then(ns => { globalThis.r = ns.b }); export const a = 1",
      "./b.js": "import {a} from './a.js'; export const b = a + 1"}, 0),
    ("a cycle that is asked for later", "const {b} = await (await import('./a.js')).p; b",
     {"./a.js": "export const p = import('./b.js'); export const a = 1",
      "./b.js": "import {a} from './a.js'; export const b = a + 1"}, 2),
]

# ---- top-level await ----

AWAIT = [
    ("in the program", "import {a} from './lib.js'; await a", {"./lib.js": LIB}, 1),
    ("in a module", "import {a} from './lib.js'; a", {"./lib.js": "export const a = await Promise.resolve(5)"}, 5),
    ("for await", "export let n = 0; for await (const x of [1, Promise.resolve(2)]) n += x; n", {}, 3),
    ("importers wait", "import './a.js'; console.log('main')",
     {"./a.js": "await 0; console.log('a'); export {}"}, Prints("a", "main")),
    ("siblings do not", "import './a.js'; import './b.js'; console.log('main')",
     {"./a.js": "console.log('a1'); await new Promise(r => setTimeout(r, 5)); console.log('a2'); export {}",
      "./b.js": "console.log('b'); export {}"}, Prints("a1", "b", "a2", "main")),
    ("importers run in their order", "import './x.js'; import './y.js'; console.log('main')",
     {"./x.js": "import './w.js'; console.log('x')", "./y.js": "import './w.js'; console.log('y')",
      "./w.js": "await 0; console.log('w'); export {}"}, Prints("w", "x", "y", "main")),
    ("two that wait run side by side", "import './a.js'; import './b.js'; console.log('main')",
     {"./a.js": "console.log('a1'); await 0; console.log('a2'); export {}",
      "./b.js": "console.log('b1'); await 0; console.log('b2'); export {}"}, Prints("a1", "b1", "a2", "b2", "main")),
    ("rejections reach importers", "import './a.js'", {"./a.js": "import './b.js'", "./b.js": "await 0;\nthrow new Error('late'); export {}"},
     Fails("Error", "late", file="./b.js", line=2)),
    ("rejections are kept", "const f = () => import('./a.js').catch(e => e); (await f()) === (await f())",
     {"./a.js": "await 0; throw new Error('x'); export {}"}, True),
    ("one that never ends", "import './a.js'; 1", {"./a.js": "await new Promise(() => {}); export {}"},
     Fails("DeadlockError")),
    ("import() waits", "(await import('./a.js')).a", {"./a.js": "export const a = await new Promise(r => setTimeout(r, 2, 7))"}, 7),
    ("await as a name is an error", "export {}; var await = 1", {}, Fails("SyntaxError", "await", line=1, column=16)),
    ("await in a nested function is not top-level", "import {f} from './lib.js'; typeof f",
     {"./lib.js": "export async function f() { await 0 }"}, "function"),
    ("the value waits", "import './lib.js'; await 3", {"./lib.js": "await 0; export {}"}, 3),
]

# ---- names ----

NAMES = [
    ("unknown", "import {a} from './nope.js'", {"./lib.js": LIB},
     Fails("Error", "Cannot find module './nope.js'. This run has: ./lib.js", line=1, column=17, hint="--module-file")),
    ("none at all", "\n\n  import 'left-pad'", {}, Fails("Error", "This run has: no modules", line=3, column=10)),
    ("without its ending", "import './lib'", {"./lib.js": LIB}, Fails("Error", hint="'./lib.js'")),
    ("one letter off", "import './libb.js'", {"./lib.js": LIB}, Fails("Error", hint="'./lib.js'")),
    ("without its folder", "import 'lib.js'", {"./lib.js": LIB}, Fails("Error", hint="'./lib.js'")),
    ("by require", "1;\nrequire('nope')", {}, Fails("Error", "Cannot find module 'nope'", line=2)),
    ("normalised", "import {a} from './x/./lib.js'; a", {"./././x/lib.js": LIB}, 1),
    ("bare with a folder", "import {a} from 'pkg/lib/a.js'; a",
     {"pkg/lib/a.js": "export {a} from './b.js'", "pkg/lib/b.js": LIB}, 1),
    ("scoped", "import {a} from '@scope/pkg'; a", {"@scope/pkg": LIB}, 1),
    ("from a bare name", "import {a} from 'pkg'; a", {"pkg": "export {a} from './b.js'", "./b.js": LIB}, 1),
    ("names of objects", "import {a} from '__proto__'; import {b} from 'constructor'; import {c} from 'toString'; "
     "[a, b, c]", {"__proto__": "export const a = 1", "constructor": "export const b = 2", "toString": "export const c = 3"},
     [1, 2, 3]),
    ("names of objects that are not there", "import 'hasOwnProperty'", {}, Fails("Error", "Cannot find")),
    ("beyond ASCII", "import {a} from './ü😀.js'; a", {"./ü😀.js": LIB}, 1),
    ("the same module by two names is two", "import {a} from './x.js'; import {a as b} from 'x.js'; [a, b]",
     {"./x.js": "export const a = 1", "x.js": "export const a = 2"}, [1, 2]),
]

BAD_SPECIFIERS = ["file:///etc/passwd", "http://example.com/x.js", "https://example.com/x.js", "data:text/javascript,1",
                  "/etc/passwd", "/", "..", "../lib.js", "./../lib.js", "./x/../lib.js", "x/../lib.js", "..\\lib.js",
                  "C:\\x.js", "blob:x", "FILE:///x", "", ".", "./", "./x/", ".//lib.js", "a\\u0000b", "#internal",
                  "./lib.js\\n", "x" * 5000, "vial:./lib.js"]

ROUTES = {
    "import": "import '{}'",
    "import a name": "import {{a}} from '{}'",
    "export from": "export {{a}} from '{}'",
    "export star": "export * from '{}'",
    "import()": "await import('{}')",
    "require": "require('{}')",
    "require.resolve": "require.resolve('{}')",
    "import.meta.resolve": "import.meta.resolve('{}')",
}


def ids(cases):
    return [case[0] for case in cases]


@pytest.mark.parametrize("case", FORMS, ids=ids(FORMS))
def test_forms(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", BINDINGS, ids=ids(BINDINGS))
def test_bindings(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", CYCLES, ids=ids(CYCLES))
def test_cycles(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", KINDS, ids=ids(KINDS))
def test_kinds(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", COMMONJS, ids=ids(COMMONJS))
def test_commonjs(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", DYNAMIC, ids=ids(DYNAMIC))
def test_dynamic_import(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", AWAIT, ids=ids(AWAIT))
def test_top_level_await(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("case", NAMES, ids=ids(NAMES))
def test_names(vial, case):
    check(run(vial, case[1], case[2]), case[3])


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_refuses_the_same_names(vial, route):
    for specifier in BAD_SPECIFIERS:
        result = run(vial, ROUTES[route].format(specifier.replace("\\l", "\\\\l").replace("\\x", "\\\\x")),
                     {"./lib.js": LIB})
        check(result, Fails("Error", "as the name of a module: it "))


# ---- where errors are ----

def test_an_error_in_a_module_is_where_it_was_written(vial):
    lib = ("import {n} from './n.js';\n"
           "export let count = n; export const deep = (g) => { count++;\n"
           "    /* ü😀 */ export_; return g() };\n").replace("export_; ", "")
    main = "import {deep} from './lib.js'; import {n} from './n.js';\n\nfunction f() { return deep(() => n.x.y) }\nf()"
    result = run(vial, main, {"./lib.js": lib, "./n.js": "export const n = {}"})
    error = result["error"]
    assert (error["name"], error["file"], error["line"], error["column"]) == ("TypeError", "[stdin]", 3, 37)
    assert error["source_line"] == "function f() { return deep(() => n.x.y) }"
    assert [(frame["function"], frame["file"], frame["line"]) for frame in error["frames"]] == \
        [("", "[stdin]", 3), ("deep", "./lib.js", 3), ("f", "[stdin]", 3), ("", "[stdin]", 4)]
    assert "at deep (./lib.js:3:23)" in error["stack"]


@pytest.mark.parametrize("lib", [
    "export const a = 1; null.x",
    "export default 1; null.x",
    "import {b} from './b.js'; export {b}; null.x",
    "export default (() => null.x)()",
    "export default () => 1; null.x",
    "export default class {} null.x",
    "export default function () { return 1 } null.x",
    "import {live, set} from './live.js'; set(live); null.x",
    "import {live, set} from './live.js'; set(live), set(set`x`), null.x",
    "\n\n  export { a as b, }; let a = 'ü';  null.x",
    "import {c} from './c.js'; export const d = 1; null.x",
    "import.meta; import('./b.js'); null.x",
    "await 0; export {}; null.x",
    "exports.a = 1; null.x",
    "#!/usr/bin/env node\nexport {}; null.x",
], ids=str)
def test_columns_are_those_of_the_source(vial, lib):
    modules = {"./lib.js": lib, "./b.js": "export const b = 1", "./c.js": "import {d} from './lib.js'; export const c = 1",
               "./live.js": "export let live = 1; export const set = (x) => { live = x }"}
    result = run(vial, "import './lib.js'", modules)
    before, found, _ = lib.partition("null.x")
    line = before.count("\n") + 1
    column = len(before.rpartition("\n")[2]) + 5  # the engine points at the dot
    assert found
    check(result, Fails("TypeError", file="./lib.js", line=line, column=column))
    assert result["error"]["source_line"] == lib.split("\n")[line - 1]


SYNTAX = [
    ("in a body", "export {};\nlet x = ;", "Unexpected token ';'", 2, 9),
    ("in a function", "export function f() {\n  return 1 +;\n}", "Unexpected token ';'", 2, 13),
    ("in an import", "\nimport {a,, b} from './b.js'", "Unexpected ','", 2, 10),
    ("in an export", "let a; export {a b}", "Unexpected", 1, 18),
    ("declared twice", "import {b} from './b.js';\nlet b", "'b'", 2, None),
    ("imported twice", "import {b} from './b.js';\nimport {b} from './b.js'", "'b'", 2, 9),
    ("exported twice", "export let a; export {a}", "'a'", 1, 23),
    ("two defaults", "export default 1;\nexport default 2", "default", 2, 8),
    ("exported and not declared", "export {}; export {nope}", "'nope'", 1, 20),
    ("return", "export {};\nreturn 1", "Return", 2, 1),
    ("yield", "export {}; yield 1", "yield", 1, 12),
    ("import in a block", "export {};\n{ import './b.js' }", "import", 2, 10),
    ("export in a function", "export {};\nfunction f() { export let x }", "export", 2, 16),
    ("strict words", "export {};\nlet static = 1", "static", 2, None),
    ("a missing name", "\nimport {nope} from './b.js'", "'nope'", 2, 20),
    ("an unfinished import", "import {a} from", "import", 1, 1),
    ("a comma after a default", "export default 1, 2", "", 1, 19),
]


@pytest.mark.parametrize("case", SYNTAX, ids=ids(SYNTAX))
@pytest.mark.parametrize("route", ["program", "module"])
def test_syntax_errors(vial, case, route):
    modules = {"./b.js": "export const b = 1"}
    if route == "module":
        modules["./lib.js"] = case[1]
    result = run(vial, case[1] if route == "program" else "import './lib.js'", modules)
    check(result, Fails("SyntaxError", case[2], line=case[3], column=case[4],
                        file="[stdin]" if route == "program" else "./lib.js",
                        source_line=case[1].split("\n")[case[3] - 1]))


def test_errors_are_printed_with_their_module(vial, folder):
    (folder / "lib.js").write_text("export const a = 1;\nnull.x")
    done = vial("run", "--module-file", f"./lib.js={folder / 'lib.js'}", "-e", "import './lib.js'")
    assert done.returncode == 1
    assert done.stderr.startswith("./lib.js:2\nnull.x\n    ^\n\nTypeError: null is not an object")


# ---- options ----

def test_module_and_script_can_be_forced(vial):
    assert run(vial, "this === undefined", {}, "--module")["value"] is True
    assert run(vial, "this === globalThis", {}, "--script")["value"] is True
    assert run(vial, "typeof await 1", {}, "--module")["value"] == "number"
    check(run(vial, "export {}", {}, "--script"), Fails("SyntaxError", "export"))
    check(run(vial, "with ({}) {}", {}, "--module"), Fails("SyntaxError", "with"))
    assert run(vial, "(await import('./a.js')).a", {"./a.js": "export const a = 1"}, "--script")["value"] == 1


BAD_OPTIONS = [
    (["--module", "--script"], "not both"),
    (["--module-file", "x"], "NAME=FILE"),
    (["--module-file", "x="], "NAME=FILE"),
    (["--module-file", "x=/nonexistent"], "/nonexistent"),
    (["--module-file"], "--module-file"),
    (["--module-file", "=/dev/null"], "is empty"),
    (["--module-file", "a/../a.js=/dev/null"], ".. in it"),
    (["--module-file", "./a.js=/dev/null", "--module-file", "././a.js=/dev/null"], "two modules"),
    (["--module-file", "file:///x=/dev/null"], "is a URL"),
    (["--module-file", "/x=/dev/null"], "absolute"),
    (["--module-file", "node:fs=/dev/null"], "built-in"),
    (["--module-file", f"{'x' * 5000}=/dev/null"], "longer than 1024"),
    (["--module-file", os.fsdecode(b"\xff=/dev/null")], "UTF-8"),
    (["--module-file", "a\nb=/dev/null"], "control"),
]


@pytest.mark.parametrize("options, why", BAD_OPTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_bad_options_are_refused_before_anything_runs(vial, options, why):
    done = vial("run", *options, "-e", "1")
    assert done.returncode == 2, done.stderr
    assert why in done.stderr


def test_a_module_that_is_not_utf8_is_refused(vial, folder):
    (folder / "bad.js").write_bytes(b"export {}; // \xff")
    done = vial("run", "--module-file", f"./bad.js={folder / 'bad.js'}", "-e", "1")
    assert (done.returncode, "./bad.js is not UTF-8 (at byte 14)" in done.stderr) == (2, True)


def test_a_thousand_modules_and_no_more(vial, folder):
    (folder / "m.js").write_text("export {}")
    words = [word for i in range(1000) for word in ("--module-file", f"./m{i}.js={folder / 'm.js'}")]
    assert vial.result(*words, "-e", "import './m999.js'; 1")["value"] == 1
    done = vial("run", *words, "--module-file", f"./x.js={folder / 'm.js'}", "-e", "1")
    assert (done.returncode, "1000" in done.stderr) == (2, True)


# ---- bad and large input ----

def test_a_chain_of_many_modules(vial):
    modules = {f"./m{i}.js": f"import {{n as m}} from './m{i + 1}.js'; export const n = m + 1" for i in range(400)}
    modules["./m400.js"] = "export const n = 0"
    check(run(vial, "import {n} from './m0.js'; n", modules), 400)


def test_a_cycle_of_many_modules(vial):
    modules = {f"./m{i}.js": f"import {{f as g}} from './m{(i + 1) % 200}.js'; export function f(n) {{ return n ? g(n - 1) : {i} }}"
               for i in range(200)}
    check(run(vial, "import {f} from './m0.js'; f(250)", modules), 50)


def test_a_module_of_ten_megabytes(vial):
    text = "export const a = '" + "x" * 10_000_000 + "';"
    check(run(vial, "import {a} from './big.js'; a.length", {"./big.js": text}), 10_000_000)


def test_a_module_with_too_much_in_it(vial):
    text = "export const a = 1;\n" + "f(1, 2);\n" * 1_100_000
    check(run(vial, "import {a} from './big.js'; a", {"./big.js": text}), Fails("RangeError", "too large to be read"))


def test_a_program_of_megabytes_with_modules(vial):
    text = "import {a} from './a.js';\nlet n = 0;\n" + "n = n + a;\n" * 100_000 + "n"
    check(run(vial, text, {"./a.js": "export const a = 1"}, "--memory-mb", "512"), 100_000)


def test_many_names(vial):
    names = ", ".join(f"a{i} = {i}" for i in range(20_000))
    text = "import {" + ", ".join(f"a{i}" for i in range(0, 20_000, 2)) + "} from './a.js'; a19998"
    check(run(vial, text, {"./a.js": f"export const {names}"}), 19998)


@pytest.mark.parametrize("opening", ["[", "(", "{", "{a:", "`${", "(()=>{", "function f(){", "import(", "import {"])
@pytest.mark.parametrize("count", [5_000, 100_000])
def test_nested_brackets(vial, opening, count):
    result = run(vial, "import './deep.js'; 1", {"./deep.js": "export {};\n" + opening * count})
    assert result["status"] == "exception"
    assert result["error"]["name"] in ("SyntaxError", "RangeError"), result["error"]


@pytest.mark.parametrize("source", ["", ";", "\n", "export", "import", "import.meta", "import.", "export default", "export {",
                                    "export *", "import * as", "import {", "export const", "export default class",
                                    "\ufeffexport {}", "/*", "`", "export default `${", "#!", "#!\nexport {}",
                                    "import\u2028'./x.js'", "\x00export {}", "export {} //", "export {} /*"])
def test_odd_sources_have_an_answer(vial, source):
    for name in ("./odd.js", "./odd.mjs", "./odd.cjs", "./odd.json"):
        result = run(vial, f"import '{name}'; 1" if name != "./odd.json" else f"require('{name}'); 1", {name: source})
        assert result["status"] in ("ok", "exception"), result


REPLACED = """
const bad = () => { throw new Error('the guest was asked') };
const {getOwnPropertyDescriptor} = Object;
const {defineProperty, ownKeys} = Reflect;
const classes = [Array, Map, Promise, String, Function, WeakMap, WeakSet, RegExp, Set];
const found = {__proto__: null};
let count = 0;
for (let i = 0; i < classes.length; i++) {
    const {prototype} = classes[i];
    const keys = ownKeys(prototype);
    for (let k = 0; k < keys.length; k++) {
        const descriptor = getOwnPropertyDescriptor(prototype, keys[k]);
        if (keys[k] !== 'constructor' && typeof descriptor.value === 'function') {
            found[count++] = {__proto__: null, prototype, key: keys[k]};
        }
    }
}
for (let i = 0; i < count; i++) {
    defineProperty(found[i].prototype, found[i].key, {__proto__: null, value: bad});
}
for (let i = 0; i < 20; i++) {
    defineProperty(Array.prototype, i, {__proto__: null, set: bad, get: bad});
}
const names = {__proto__: null, 0: 'get', 1: 'set', 2: 'value', 3: 'type', 4: 'with', 5: 'name', 6: 'file'};
for (let i = 0; i < 7; i++) {
    defineProperty(Object.prototype, names[i], {__proto__: null, get: bad, set: bad});
}
globalThis.Promise = globalThis.Map = globalThis.JSON = globalThis.Reflect = undefined;
"""


def test_the_loader_does_not_depend_on_what_a_guest_can_change(vial):
    main = REPLACED + "\nconst ns = require('./a.js'); __return(ns.f() + require('./c.js').c)"
    modules = {"./a.js": "import {g} from './b.js'; export * from './b.js'; export function f() { return g() }",
               "./b.js": "import {f} from './a.js'; export let n = 1; export function g() { n++; return n + typeof f }",
               "./c.js": "exports.c = 'c'"}
    check(run(vial, main, modules), "2functionc")
    main = REPLACED + "\n(async () => { __return((await import('./a.js')).a) })()"
    check(run(vial, main, {"./a.js": "export const a = await 5"}), 5)


def test_the_names_of_the_rewriter_give_no_power(vial):
    check(run(vial, "export const b = 1; import {a} from './a.js'; vial$x([() => 'forged']); vial$v[0] = 2; "
                    "[a, typeof vial$i, typeof vial$m]", {"./a.js": "export const a = 1"}), [1, "function", "object"])
    check(run(vial, "import {x} from './a.js'; x",
              {"./a.js": "export const x = 1; vial$x([() => 'forged']); vial$v.length = 0"}), 1)


def test_nothing_of_one_run_is_left_in_the_next(vial, folder):
    check(run(vial, "typeof vial$i + typeof vial$x"), "undefinedundefined")
    check(run(vial, "Object.keys(globalThis).length + Object.keys(require).length"), 3)
