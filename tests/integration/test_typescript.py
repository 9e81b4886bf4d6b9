"""test_typescript.py - TypeScript programs as models write them, run by name, by --lang and by detection."""

import pytest

pytestmark = pytest.mark.guest

REPOSITORY = """
interface Entity { readonly id: number }
interface User extends Entity { name: string; email?: string; role: Role }
enum Role { Admin = "admin", Guest = "guest" }

type Result<T, E = Error> = { ok: true; value: T } | { ok: false; error: E };
type Partialish<T> = { [K in keyof T]?: T[K] };

abstract class Repository<T extends Entity> {
  protected readonly items = new Map<number, T>();
  private static count = 0;

  constructor(private readonly name: string, public limit: number = 2) {
    Repository.count++;
  }

  abstract validate(item: T): boolean;

  save(item: T): Result<T, string> {
    if (this.items.size >= this.limit) return { ok: false, error: `${this.name} is full` };
    if (!this.validate(item)) return { ok: false, error: "invalid" };
    this.items.set(item.id, item);
    return { ok: true, value: item };
  }

  find<K extends keyof T>(key: K, value: T[K]): T | undefined {
    return [...this.items.values()].find((item): item is T => item[key] === value);
  }

  static get total(): number { return Repository.count }
}

class Users extends Repository<User> {
  validate(user: User): user is User { return user.name.length > 0 }
}

const users = new Users("users");
const patch: Partialish<User> = { email: "a@b.c" };
const results = [
  users.save({ id: 1, name: "Ann", role: Role.Admin, ...patch } as User),
  users.save(<User>{ id: 2, name: "", role: Role.Guest }),
  users.save({ id: 3, name: "Bob", role: Role.Guest }),
  users.save({ id: 4, name: "Cid", role: Role.Guest }),
];
({
  errors: results.map(r => r.ok ? null : r.error),
  ann: users.find("role", Role.Admin)!.email,
  total: Users.total,
})
"""

UNIONS = """
type Shape =
  | { kind: "circle"; radius: number }
  | { kind: "square"; side: number }
  | { kind: "rect"; w: number; h: number };

const assertNever = (x: never): never => { throw new Error(`unexpected ${x}`) };

function area(shape: Shape): number {
  switch (shape.kind) {
    case "circle": return Math.round(Math.PI * shape.radius ** 2);
    case "square": return shape.side ** 2;
    case "rect": { const { w, h }: { w: number; h: number } = shape; return w * h }
    default: return assertNever(shape);
  }
}

const shapes = [
  { kind: "circle", radius: 1 },
  { kind: "square", side: 2 },
  { kind: "rect", w: 2, h: 3 },
] as const satisfies readonly Shape[];

const grouped = shapes.reduce<Record<string, number>>((sum, shape) => {
  sum[shape.kind] = (sum[shape.kind] ?? 0) + area(shape);
  return sum;
}, {});
grouped
"""

ASYNC = """
interface Job<T> { name: string; run: () => Promise<T> }

const sleep = (ms: number): Promise<void> => new Promise<void>(resolve => setTimeout(resolve, ms));

async function pool<T>(jobs: Job<T>[], size = 2): Promise<Map<string, T | Error>> {
  const done = new Map<string, T | Error>();
  const queue: Job<T>[] = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      try {
        done.set(job.name, await job.run());
      } catch (error: unknown) {
        done.set(job.name, error instanceof Error ? error : new Error(String(error)));
      }
    }
  };
  await Promise.all(Array.from({ length: size }, worker));
  return done;
}

async function* count(to: number): AsyncGenerator<number, void, undefined> {
  for (let i = 0; i < to; i++) { await sleep(1); yield i }
}

const done = await pool<number>([
  { name: "a", run: async () => { await sleep(2); return 1 } },
  { name: "b", run: async () => { throw "no" } },
  { name: "c", run: () => Promise.resolve(3) },
]);
let sum = 0;
for await (const n of count(4)) sum += n;
({ sum, done: [...done].map(([name, v]) => [name, v instanceof Error ? v.message : v]).sort() })
"""

NAMESPACES = """
namespace Geometry {
  export interface Point { x: number; y: number }
  export const origin: Point = { x: 0, y: 0 };
  const hidden = 2;
  export function distance(a: Point, b: Point = origin): number {
    return Math.hypot(a.x - b.x, a.y - b.y) * hidden / 2;
  }
  export namespace Units { export enum Unit { Meter = 1, Kilo = 1000 } }
  export let calls = 0;
  export function count() { return ++calls }
}
namespace Geometry { export const far = distance({ x: 3, y: 4 }) }
declare namespace OnlyTypes { let x: number }
namespace Types { export type A = string }

const enum Flag { None = 0, Read = 1 << 0, Write = 1 << 1, All = Read | Write }
enum Level { Low, High = 5, Higher }

Geometry.count();
Geometry.count();
({
  far: Geometry.far,
  unit: Geometry.Units.Unit.Kilo,
  calls: Geometry.calls,
  hidden: (Geometry as any).hidden === undefined,
  types: typeof Types,
  flags: Flag.All,
  level: [Level.Higher, Level[5], Level[0]],
})
"""

PROGRAMS = [
    (REPOSITORY, {"errors": [None, "invalid", None, "users is full"], "ann": "a@b.c", "total": 1}),
    (UNIONS, {"circle": 3, "square": 4, "rect": 6}),
    (ASYNC, {"sum": 6, "done": [["a", 1], ["b", "no"], ["c", 3]]}),
    (NAMESPACES, {"far": 5, "unit": 1000, "calls": 2, "hidden": True, "types": "undefined", "flags": 3,
                  "level": [6, "High", "Low"]}),
]


def value(result):
    assert result["status"] == "ok", result["error"]
    return result["value"]


# ---- three ways in ----

@pytest.mark.parametrize("program, expected", PROGRAMS)
def test_programs_by_language(vial, program, expected):
    assert value(vial.result("--lang", "ts", "-e", program)) == expected


@pytest.mark.parametrize("program, expected", PROGRAMS)
@pytest.mark.parametrize("ending", ["ts", "mts", "cts"])
def test_programs_by_file_name(vial, folder, program, expected, ending):
    (folder / f"program.{ending}").write_text(program)
    assert value(vial.result(folder / f"program.{ending}")) == expected


@pytest.mark.everyone
@pytest.mark.parametrize("program, expected", PROGRAMS)
def test_programs_by_detection(vial, program, expected):
    assert value(vial.result("-", stdin=program)) == expected


def test_javascript_stays_javascript_unless_asked(vial, folder):
    code = "const a = 1, b = 2, c = 3; [a < b, b > (c)].length"
    assert value(vial.result("-e", code)) == 2
    done = vial("run", "--lang", "js", "-e", "let x: number = 1")
    assert done.returncode == 1
    assert "SyntaxError" in done.stderr
    (folder / "a.ts").write_text("let x: number = 1; x")
    assert vial.result("--lang", "js", folder / "a.ts")["status"] == "exception"
    assert value(vial.result(folder / "a.ts")) == 1


def test_typescript_without_types_is_javascript(vial, folder):
    (folder / "a.ts").write_text("const f = (a, b = 1) => a + b; f(2)")
    assert value(vial.result(folder / "a.ts")) == 3


def test_an_unknown_language_is_bad_usage(vial):
    done = vial("run", "--lang", "perl", "-e", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--lang takes js, ts or python" in done.stderr


def test_return_and_await_work_with_types(vial):
    assert value(vial.result("-e", "const x: number = await Promise.resolve<number>(2); return x + 1")) == 3
    assert value(vial.result("-e", "enum E { A = 4 }\nif (E.A as number > 3) { return E[4] }\nreturn 0")) == "A"


# ---- where errors are ----

def test_positions_are_those_of_the_source(vial):
    code = ("interface A { b: string }\n"
            "function f<T>(x: T): never {\n"
            "  const y: A = { b: 'ü😀' as string }; throw new TypeError(y.b);\n"
            "}\n"
            "f<number>(1);\n")
    error = vial.result("--lang", "ts", "-e", code)["error"]
    assert (error["name"], error["message"]) == ("TypeError", "ü😀")
    assert (error["line"], error["column"]) == (3, code.split("\n")[2].encode("utf-16-le").find(
        "new TypeError".encode("utf-16-le")) // 2 + 1 + len("new TypeError"))
    assert error["source_line"] == code.split("\n")[2]
    assert [(f["function"], f["line"]) for f in error["frames"]] == [("f", 3), ("", 5)]


@pytest.mark.parametrize("wait", ["", "await 1; "])
def test_positions_behind_insertions(vial, wait):
    code = (f"{wait}enum E {{ A, B = 2 }} class P {{ constructor(private x: number) {{ nope() }} }} new P(1)")
    with_types = vial.result("--lang", "ts", "-e", code)["error"]
    plain = code.replace("enum E { A, B = 2 }", " " * len("enum E { A, B = 2 }"))
    plain = plain.replace("private", " " * 7).replace(": number", " " * 8)
    without = vial.result("--lang", "js", "-e", plain)["error"]
    assert with_types["message"] == without["message"] == "Can't find variable: nope"
    assert (with_types["line"], with_types["column"]) == (without["line"], without["column"])
    assert [(f["line"], f["column"]) for f in with_types["frames"]] == \
        [(f["line"], f["column"]) for f in without["frames"]]


def test_a_syntax_error_is_the_engines_at_its_line(vial, folder):
    code = "let a: number = 1;\ntype B = string;\nlet c: B = ;\nlet d: number;\n"
    (folder / "a.ts").write_text(code)
    for result in vial.result(folder / "a.ts"), vial.result("-e", code):
        assert result["status"] == "exception"
        assert (result["error"]["name"], result["error"]["line"]) == ("SyntaxError", 3)
        assert result["error"]["source_line"] == "let c: B = ;"


def test_a_syntax_error_in_javascript_is_reported_as_before(vial):
    code = "let a = { b: 1 };\nlet c = ;"
    error = vial.result("-e", code)["error"]
    assert error == vial.result("--lang", "js", "-e", code)["error"]
    assert error["line"] == 2


@pytest.mark.parametrize("code, line, word", [
    ("const a = 1;\n@sealed\nclass A {}", 2, "decorator"),
    ("class A {\n  @log() f(): void {}\n}", 2, "decorator"),
    ("const a: any =\n  <div>text</div>;", 2, "JSX"),
    ("const a = <App name=\"x\" />;", 1, "JSX"),
    ("type A = {\n  a string\n}", 2, "type"),
])
@pytest.mark.parametrize("how", [("--lang", "ts"), ()])
def test_what_is_not_supported_is_named(vial, code, line, word, how):
    result = vial.result(*how, "-e", code)
    assert result["status"] == "exception"
    error = result["error"]
    assert (error["name"], error["line"]) == ("SyntaxError", line)
    assert word in error["message"]
    assert error["source_line"] == code.split("\n")[line - 1]
    done = vial("run", *how, "-e", code)
    assert done.returncode == 1
    assert word in done.stderr


def test_types_are_not_checked(vial):
    assert value(vial.result("--lang", "ts", "-e", "const x: string = 1 as any; let y: number = 'a'; y + x")) == "a1"


def test_hostile_nesting_is_refused_and_nothing_breaks(vial):
    for text in ("let x: " + "(" * 100000, "let x: any = " + "<T>(" * 5000, "let x = " + "a?(b):c=>" * 3000):
        result = vial.result("--lang", "ts", "-", stdin=text)
        assert (result["status"], result["error"]["name"]) == ("exception", "SyntaxError")
