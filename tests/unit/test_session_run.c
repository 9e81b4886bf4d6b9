/* test_session_run.c - sources evaluated one behind the other in a real context, as a session does.
 *
 * The engine's part of the cell program is linked in; what it needs of the rest is below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cell/js/context.h"
#include "cell/js/run.h"
#include "jail/fork.h"
#include "wire/field.h"

enum { RESULT_MAX = 1 << 20, TIMERS_MAX = 100 };

static struct js_context context;
static struct guest_start start; /* what the next evaluation is started with */
static struct buf result;
static struct buf output;
static struct buf answer;
static struct buf frames;

void cell_output(int stream, const char *bytes, size_t len)
{
    assert_int_equal(buf_add_text(&output, stream == VIAL_STDERR ? "2:" : "1:", NULL), 0);
    assert_int_equal(buf_add(&output, bytes, len, NULL), 0);
}

void cell_send_artifact(const char *payload, size_t len)
{
    (void)payload;
    (void)len;
}

_Noreturn void cell_finish(struct buf *ended)
{
    (void)ended;
    (void)fprintf(stderr, "an evaluation ended the process\n");
    exit(1);
}

static int begin(void **state)
{
    static int sockets[2] = {-1, -1};
    JSContextGroupRef group = JSContextGroupCreate();
    const char *why = "";

    (void)state;
    /* Whoever waits listens to the host, who says nothing here. */
    if (sockets[0] < 0 && (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 ||
                              dup2(sockets[0], FORK_CONTROL_FD) < 0)) {
        return -1;
    }
    context = (struct js_context){.evaluation_count = 0};
    start = (struct guest_start){.name = "", .timers_max = TIMERS_MAX, .value_bytes_max = 65536};
    start.session = 1;
    buf_init(&result, RESULT_MAX);
    buf_init(&output, RESULT_MAX);
    buf_init(&answer, RESULT_MAX);
    buf_init(&frames, RESULT_MAX);
    if (js_context_init(&context, group, &why) < 0) {
        fail_msg("%s", why);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    JSGlobalContextRelease(context.ctx);
    buf_release(&result);
    buf_release(&output);
    buf_release(&answer);
    buf_release(&frames);
    return 0;
}

static void add(struct buf *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct buf *to, const char *format, ...)
{
    char text[4096];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    assert_int_equal(buf_add_text(to, text, NULL), 0);
}

/* Adds a field of a result to the answer, in the order in which the cell writes them. */
static void add_field(const struct field *f)
{
    uint32_t number = 0;

    switch (f->tag) {
    case FIELD_VALUE:
    case FIELD_TEXT:
    case FIELD_ERROR_NAME:
        add(&answer, "%.*s", (int)f->len, f->bytes);
        break;
    case FIELD_ERROR_MESSAGE:
        add(&answer, ": %.*s", (int)f->len, f->bytes);
        break;
    case FIELD_ERROR_FILE:
        add(&answer, " @%.*s", (int)f->len, f->bytes);
        break;
    case FIELD_ERROR_LINE:
    case FIELD_ERROR_COLUMN:
        assert_int_equal(field_u32(f, &number), 0);
        add(&answer, ":%u", number);
        break;
    case FIELD_FRAME_FUNCTION:
        add(&frames, "%s%.*s", frames.len > 0 ? " " : "", (int)f->len, f->bytes);
        break;
    case FIELD_FRAME_LINE:
    case FIELD_FRAME_COLUMN:
        assert_int_equal(field_u32(f, &number), 0);
        add(&frames, ":%u", number);
        break;
    case FIELD_FRAME_FILE:
        add(&frames, "@%.*s", (int)f->len, f->bytes);
        break;
    default:
        break;
    }
}

/* Evaluates a source: its value as JSON, "" when that is undefined, or its error as
 * "Name: message @file:line:column". */
static const char *evaluate(const char *source)
{
    struct field f;
    size_t at = 0;

    buf_clear(&result);
    buf_clear(&answer);
    buf_clear(&frames);
    start.source = source;
    start.source_len = strlen(source);
    js_run(&context, &start, &result);
    start.input = NULL;
    while (field_next(result.data, result.len, &at, &f) == 1) {
        add_field(&f);
    }
    return answer.len > 0 ? answer.data : "";
}

static void expect(const char *source, const char *expected)
{
    const char *got = evaluate(source);

    if (strcmp(got, expected) != 0) {
        fail_msg("%s\n    gave %s\n    and not %s", source, got, expected);
    }
}

/* The error begins so. */
static void expect_error(const char *source, const char *expected)
{
    const char *got = evaluate(source);

    if (strncmp(got, expected, strlen(expected)) != 0) {
        fail_msg("%s\n    gave %s\n    and not %s", source, got, expected);
    }
}

static void expect_frames(const char *expected)
{
    assert_string_equal(frames.len > 0 ? frames.data : "", expected);
}

static void expect_output(const char *expected)
{
    const char *got = output.len > 0 ? output.data : "";

    if (strncmp(got, expected, strlen(expected)) != 0 || (*expected == '\0' && *got != '\0')) {
        fail_msg("the output is %s and not %s", got, expected);
    }
    buf_clear(&output);
}

static void names_stay_for_later_evaluations(void **state)
{
    (void)state;
    expect("const a = 1; let b = 2; var c = 3; function f() { return a + b + c } class D { x = 4 }",
        "");
    expect("a + b + c", "6");
    expect("f() + new D().x", "10");
    expect("const {p, q: [r = 7, ...s], ...t} = {p: 1, q: [undefined, 2, 3], u: 4}", "");
    expect("[p, r, s, t]", "[1,7,[2,3],{\"u\":4}]");
    expect("async function g() { return 5 } function* h() { yield 6 }", "");
    expect("g()", "5");
    expect("[...h()]", "[6]");
    expect("typeof globalThis.a", "\"number\"");
}

/* Declares x in one of many ways, as something that has the value n. */
static void declare_x(int way, int n)
{
    static const char *const ways[][2] = {{"const x = ", ""}, {"let x = ", ""}, {"var x = ", ""},
        {"function x() { return ", " }"}, {"class x { static v = ", " }"},
        {"const {x} = {x: ", "}"}, {"await 0; const x = ", ""},
        {"const w = await 0; function x() { return ", " }"},
        {"await 0; class x { static v = ", " }"}, {"await 0; if (1) { var x = ", " }"},
        {"export const x = ", ""}, {"import 'path'; let [x] = [", "]"}};
    char source[200];

    (void)snprintf(source, sizeof(source), "%s%d%s", ways[way][0], n, ways[way][1]);
    expect(source, "");
}

static void names_can_be_declared_again_with_any_word(void **state)
{
    enum { WAYS = 12 };
    char value[20];

    (void)state;
    for (int i = 0; i < WAYS * WAYS; i++) {
        declare_x(i % WAYS, -i);
        declare_x(i / WAYS, i);
        (void)snprintf(value, sizeof(value), "%d", i);
        expect("typeof x === 'number' ? x : x.v ?? x()", value);
    }
}

static void a_declaration_without_a_value_begins_anew_unless_it_is_var(void **state)
{
    (void)state;
    expect("let x = 1; var y = 1", "");
    expect("let x; var y; [x === undefined, y]", "[true,1]");
    expect("x = y = 2; 0", "0");
    expect("await 0; let x; var y; [x === undefined, y]", "[true,2]");
}

static void later_evaluations_see_new_values_in_old_functions(void **state)
{
    (void)state;
    expect("let n = 1; const get = () => n, w = await 0; function twice() { return 2 * base() } "
           "function base() { return n }",
        "");
    expect("n = 5; [get(), twice()]", "[5,10]");
    expect("function base() { return 100 } twice()", "200");
    expect("twice.name + base.name + twice.length", "\"twicebase0\"");
    expect("`${twice}`", "\"function twice() { return 2 * base() }\"");
}

static void the_value_is_that_of_the_last_statement(void **state)
{
    (void)state;
    expect("1 + 1", "2");
    expect("const a = 1", "");
    expect("const b = 1; b; let c = 2", "1");
    expect("if (b) { 'yes' } else { 'no' }", "\"yes\"");
    expect("try { throw 1 } catch (e) { e + 1 }", "2");
    expect("for (const i of [1, 2, 3]) i * 2", "6");
    expect("({a: 1})", "{\"a\":1}");
    expect("await 5; const d = 1; d + 1", "2");
    expect("if (await 1) { 'then' } else { 'else' }", "\"then\"");
    expect("return 7", "7");
    expect("const e = 8; return e", "8");
    expect("e", "8");
    expect("Promise.resolve(9)", "9");
    expect("__return(10); 11", "10");
    expect("export default 12; 13", "12");
    expect("await 0; export default 14; 15", "14");
    expect("export default function named() { return 1 }\nnamed()",
        ""); /* as CBOR: a number to call it by */
    expect("named()", "1");
}

static void await_does_not_keep_names_from_being_global(void **state)
{
    (void)state;
    expect("const a = await 1, {b, c: [d] = [4]} = await {b: 2}", "");
    expect("[a, b, d]", "[1,2,4]");
    expect("const f1 = async () => 1\nconst v = await f1()\n;[v]", "[1]");
    expect("for (var i = 0, j = 1; i < 3; i++) { var k = await i }\nfor (var [m] of [[7]]) ;", "");
    expect("[i, j, k, m]", "[3,1,2,7]");
    expect("await 0\nlet x\n[x] = [1]\nif (x) var y = 5; else var z = 6\nlabel: var w = 8", "");
    expect("[x, y, typeof z, w]", "[1,5,\"undefined\",8]");
    expect("class E extends (await Object) { static s = this.name }\nE.s", "\"E\"");
    expect("for await (const n of [1, 2]) { var sum = (sum ?? 0) + n }", "");
    expect("sum", "3");
    expect("for (let q = 0; q < 1; q++) await 0; typeof q", "\"undefined\"");
}

static void functions_are_there_before_their_declaration(void **state)
{
    (void)state;
    expect("early() + 1; function early() { return 1 }", "2");
    expect("await 0; late() + 1; function late() { return 2 } async function other() {}", "3");
    expect("[early.name, late.name, other.name, typeof late.prototype]",
        "[\"early\",\"late\",\"other\",\"object\"]");
}

static void a_constant_is_one_in_its_own_evaluation(void **state)
{
    static const char READONLY[] = "TypeError: Attempted to assign to readonly property. @";

    (void)state;
    expect_error("const a = 1;\n  a = 2", READONLY);
    expect_error("const b = 1; b++", READONLY);
    expect_error("const c = 1; [c] = [2]", READONLY);
    expect_error("const d = 1; ({d} = {d: 2})", READONLY);
    expect_error("const e = 1; for (e of [1]) ;", READONLY);
    expect_error("const f = 1; function g() { f += 1 } g()", READONLY);
    expect_error("const h = await 1; h = 2", READONLY);
    expect_error("import i from 'path'; i = 2", READONLY);
    expect("[a, b, c, d, e, f, h, typeof i]", "[1,1,1,1,1,1,1,\"object\"]");
    expect(
        "const k = null; k \?\?= 3", "TypeError: Attempted to assign to readonly property. @:1:20");
    expect("const l = 1; l ||= 3", "1");
    expect("const m = 1; (m => { m = 2; return m })(0)", "2");
    expect("const o = 1; { let o = 1; o = 2 } o", "1");
    expect("g()", "TypeError: Attempted to assign to readonly property. @eval-6.js:1:32");
}

static void later_evaluations_may_assign_to_constants(void **state)
{
    (void)state;
    expect("const a = 1", "");
    expect("a = 2; a", "2");
    expect("a += await 1; a", "3");
}

static void what_a_run_refuses_is_refused(void **state)
{
    (void)state;
    expect_error("const a = 1; const a = 2", "SyntaxError: ");
    expect_error("let a; var a", "SyntaxError: ");
    expect_error("await 0; let a; function f() {}\nlet f", "SyntaxError: ");
    expect_error("import a from 'path'; const a = 1", "SyntaxError: ");
    expect_error("const a;", "SyntaxError: ");
    expect_error("class A {} class A {}", "SyntaxError: ");
    expect_error("using x = 1", "SyntaxError: ");
    expect("typeof a + typeof A", "\"undefinedundefined\"");
}

static void syntax_errors_are_the_engines_own_and_at_their_place(void **state)
{
    (void)state;
    expect_error("const x = 1;\nconst y = );\n", "SyntaxError: Unexpected token ')'");
    assert_non_null(strstr(answer.data, "@:2:"));
    expect_error("await 1;\nlet y = (;\n", "SyntaxError: Unexpected token ';'");
    assert_non_null(strstr(answer.data, "@:2:"));
    expect_error("(", "SyntaxError: Unexpected end of script");
    expect("typeof x", "\"undefined\"");
    expect_error("import {", "SyntaxError: ");
    expect("1", "1");
}

static void an_error_in_the_middle_keeps_what_was_done(void **state)
{
    (void)state;
    expect("const a = 1, kept = 'old'", "");
    expect_error("const b = 2; null.x; const c = 3; const kept = 'new'", "TypeError: ");
    expect("[a, b, c === undefined, kept]", "[1,2,true,\"old\"]");
    expect_error("const d = await 4; null.x; const e = 5; let kept = 'newer'", "TypeError: ");
    expect("[d, e === undefined, kept]", "[4,true,\"old\"]");
    expect_error("function f() { return 1 } throw new RangeError('no')", "RangeError: no @:1:47");
    expect("f()", "1");
}

static void positions_are_those_of_the_source(void **state)
{
    (void)state;
    expect("class A { m() { throw new Error('m') } }; function f() { null.x }\n"
           "const g = () => f()",
        "");
    expect_error("let q, r; g()", "TypeError: ");
    expect_frames("f:1:62@eval-1.js g:2:18@eval-1.js :1:12@");
    expect_error("await 0; let s; g()", "TypeError: ");
    expect_frames("f:1:62@eval-1.js g:2:18@eval-1.js :1:18@");
    expect("await 0; function h() { throw new Error('h') } let t = 1, u; class B { static f() { "
           "h() } }",
        "");
    expect("\n  B.f()", "Error: h @eval-4.js:1:40");
    expect_frames("h:1:40@eval-4.js f:1:86@eval-4.js :2:6@");
    expect("await 0; throw new Error('here')", "Error: here @:1:25");
    expect("async function slow() { await 0; throw new Error('slow') } await slow()",
        "Error: slow @:1:49");
    expect_frames("slow:1:49@");
    expect_error("let v, w; await slow()", "Error: slow @eval-7.js:1:49");
    expect("class C {} throw new Error('there')", "Error: there @:1:27");
}

static void evaluations_with_names_are_shown_with_them(void **state)
{
    (void)state;
    start.name = "cell@x.js";
    start.name_len = 9;
    expect("const pad = 0; function one() { throw new Error('1') }", "");
    expect("let a, b; function two() { one() }", "");
    expect_error("two()", "Error: 1 @cell@x.js:1:48");
    expect_frames("one:1:48@cell@x.js two:1:31@cell@x.js :1:4@");
}

static void old_evaluations_are_forgotten_but_for_their_lines(void **state)
{
    (void)state;
    expect("let a, b; function old() {\n null.x }", "");
    for (int i = 0; i < 999; i++) {
        expect("0", "0");
    }
    expect_error("old()", "TypeError: ");
    expect_frames("old:2:0@eval-1.js :1:4@");
}

static const struct guest_module modules[] = {
    {.name = "./a.js",
        .name_len = 6,
        .source = "export default 1; export let n = 2; "
                  "export const up = () => ++n",
        .source_len = 63},
    {.name = "./late.js",
        .name_len = 9,
        .source = "export const v = await 5; export {n} from './a.js'",
        .source_len = 50},
    {.name = "./bad.js", .name_len = 8, .source = "throw new Error('bad')", .source_len = 22},
    {.name = "./c.cjs", .name_len = 7, .source = "exports.c = 3", .source_len = 13},
};

static void imports_are_names_like_others(void **state)
{
    (void)state;
    start.modules = modules;
    start.module_count = 4;
    expect("import one, {n as two, up} from './a.js'; import * as all from './a.js';\n"
           "import path from 'path'; one + two",
        "3");
    start.module_count = 0;
    expect("[one, two, all.n, path.join('a', 'b')]", "[1,2,2,\"a/b\"]");
    expect("up(); [two, all.n]", "[2,3]");
    expect("import {n as two} from './a.js'; two", "3");
    expect("const path = 1; path", "1");
    expect("import {v, n} from './late.js'; v + n", "8");
    expect("v", "5");
    expect("import {c} from './c.cjs'; await c", "3");
    expect("(await import('./a.js')).default", "1");
    expect("const load = () => import('./late.js')", "");
    expect("(await load()).v", "5");
    expect("import.meta.url", "\"file:///home/vial/session.js\"");
    expect("import.meta.url === `file://${process.argv[1]}` && import.meta.main", "true");
    expect("require('./c.cjs').c", "3");
    expect("export const ex = 9; export {ex as other}; export * from './a.js'; ex", "9");
    expect("ex", "9");
    expect("typeof vial$v", "\"undefined\"");
}

static void a_module_runs_once_in_a_session(void **state)
{
    static const struct guest_module counter[] = {{.name = "./n.js",
        .name_len = 6,
        .source = "globalThis.runs = (globalThis.runs ?? 0) + 1; export default runs",
        .source_len = 65}};

    (void)state;
    start.modules = counter;
    start.module_count = 1;
    expect("import n from './n.js'; n", "1");
    expect("import n from './n.js'; n", "1");
    start.modules = modules;
    start.module_count = 4;
    expect("import n from './n.js'; import one from './a.js'; [n, one, runs]", "[1,1,1]");
}

static void imports_fail_as_in_runs(void **state)
{
    (void)state;
    start.modules = modules;
    start.module_count = 4;
    expect("1;\nimport {nope} from './a.js'",
        "SyntaxError: Importing binding name 'nope' is not found in module './a.js' @:2:20");
    expect_error("import x from './none.js'", "Error: Cannot find module './none.js'.");
    expect("import './bad.js'", "Error: bad @./bad.js:1:16");
    expect("typeof nope + typeof x", "\"undefinedundefined\"");
    expect_error("import('./none.js')", "Error: Cannot find module './none.js'.");
}

static void typescript_is_prepared_first(void **state)
{
    (void)state;
    expect("interface P { x: number }\nconst p: P = {x: 1}; enum E { A = 5 }", "");
    expect("const q: number = p.x + E.A; q", "6");
    expect("const v = await (Promise.resolve(1) as Promise<number>); function f(a: number): number "
           "{ return a }",
        "");
    expect("f(v!)", "1");
    expect("enum E { B = 7 }\nE.B", "7");
    expect("class T { constructor(private x: number) {} m(): void { throw new Error('t') } }", "");
    expect("new T(1).m()", "Error: t @eval-6.js:1:72");
    start.language = VIAL_LANGUAGE_JAVASCRIPT;
    expect_error("const z: number = 1", "SyntaxError: ");
}

static void strictness_is_that_of_the_source(void **state)
{
    static const char PROBE[] = "(function () { return this === undefined })()";
    char source[200];

    (void)state;
    expect(PROBE, "false");
    (void)snprintf(source, sizeof(source), "'use strict'; let a; %s", PROBE);
    expect(source, "true");
    (void)snprintf(source, sizeof(source), "// first\n'use strict'; await 0; %s", PROBE);
    expect(source, "true");
    (void)snprintf(
        source, sizeof(source), "'use strict'\nawait 0; function f() { return %s }\nf()", PROBE);
    expect(source, "true");
    (void)snprintf(source, sizeof(source), "import 'path'; %s", PROBE);
    expect(source, "true");
    expect("#!/usr/bin/env node\nlet h = 1; h", "1");
    expect("#!/usr/bin/env node\nlet i = await 1; i", "1");
}

static void lines_do_not_merge(void **state)
{
    (void)state;
    expect("let x\n(1)", "1");
    expect("let y\n[1][0]", "1");
    expect("const f = function () { return 1 }\nconst g = 1\nawait 0\nclass A {}\n[g][0]", "1");
    expect("await 0\nlet z\n`text`", "\"text\"");
    expect("const s = 'a'\nconst t = await s\nclass B {}\n(t)", "\"a\"");
    expect("export const e = 1\nexport default [e]", "[1]");
    expect("let i = 1\n++i\ni", "2");
    expect("await 0; let j = 1\n++j\nj", "2");
}

static void await_can_be_a_name_as_in_runs(void **state)
{
    (void)state;
    expect("var await = 1; const n = await; n + 1", "2");
    expect("n", "1");
}

static void an_evaluation_does_not_wait_for_timers(void **state)
{
    uint64_t before = clock_now_us();

    (void)state;
    expect(
        "let n = 0; const t = setInterval(() => n++, 5), u = setTimeout(() => { n = -1 }, 600000)",
        "");
    assert_true(clock_now_us() - before < 5000000);
    expect("await new Promise(done => setTimeout(done, 60)); n > 2", "true");
    expect("n = 0", "0");
    (void)usleep(30000);
    expect("n", "0"); /* time stands still between evaluations */
    expect("clearInterval(t); const before = n; await new Promise(done => setTimeout(done, 30)); "
           "n === before",
        "true");
    expect("setTimeout(() => {}, 1); 'at once'", "\"at once\"");
    expect("await undefined", "");
}

static void microtasks_and_ticks_are_part_of_an_evaluation(void **state)
{
    (void)state;
    expect("const log = []; Promise.resolve().then(() => log.push('m')); "
           "process.nextTick(() => log.push('t')); queueMicrotask(() => log.push('q')); 0",
        "0");
    expect("log", "[\"t\",\"m\",\"q\"]");
    expect(
        "const tick = process.nextTick; Promise.resolve().then(() => tick(() => log.push('u'))); 0",
        "0");
    expect("log.length", "4");
}

static void errors_of_left_timers_do_not_end_later_evaluations(void **state)
{
    (void)state;
    expect("setTimeout(() => { throw new Error('left') }, 1); 0", "0");
    expect("await new Promise(done => setTimeout(done, 20)); 'fine'", "\"fine\"");
    expect_output("2:Uncaught Error: left\n    at eval-1.js:1:35");
    expect("setTimeout(() => { Promise.reject(new Error('also')) }, 1); 0", "0");
    expect("await new Promise(done => setTimeout(done, 20)); 'fine'", "\"fine\"");
    expect_output("2:Uncaught Error: also\n");
    expect("setTimeout(() => { throw 5 }, 1); 0", "0");
    expect("await new Promise(done => setTimeout(done, 20)); 'fine'", "\"fine\"");
    expect_output("2:Uncaught Thrown value: 5\n");
    expect_error("setTimeout(() => { throw new Error('own') }, 1); "
                 "await new Promise(done => setTimeout(done, 20))",
        "Error: own");
    expect_output("");
    expect_error("Promise.reject(new Error('nobody')); 1", "Error: nobody");
    expect("2", "2");
}

static void a_promise_that_cannot_settle_is_told(void **state)
{
    (void)state;
    expect_error("await new Promise(() => {})", "DeadlockError: ");
    expect_error("let go; const p = new Promise(done => { go = done }); p", "DeadlockError: ");
    expect("go(4); p", "4");
    expect(
        "__return(new Promise(done => setTimeout(done, 5, 6))); await new Promise(() => {})", "6");
}

static void nothing_is_forgotten_between_evaluations(void **state)
{
    (void)state;
    expect("console.count('a'); console.group('g')", "");
    expect("console.count('a')", "");
    expect_output("1:a: 1\n1:g\n1:  a: 2\n");
    expect("process.exitCode = 3; process.env.X = 'y'; 0", "0");
    expect("[process.exitCode, process.env.X]", "[3,\"y\"]");
    start.input = "{\"k\":1}";
    start.input_len = 7;
    expect("input.k", "1");
    expect("input.k", "1");
    start.input = "2";
    start.input_len = 1;
    expect("input", "2");
}

static void an_ordinary_run_is_as_it_was(void **state)
{
    (void)state;
    expect("const a = 1; setInterval(() => {}, 1); 0", "0");
    start.session = 0;
    start.name = "main.js";
    start.name_len = 7;
    expect("const b = 1; b", "1");
    expect_error("const b = 2", "SyntaxError: ");
    expect("new Promise(done => setTimeout(done, 1, 5))", "5");
}

static void names_of_our_own_give_no_power(void **state)
{
    (void)state;
    expect("vial$d = 5; 6", "6");
    expect("vial$k = null; const a = 1; a", "1");
    expect_error("const b = 1; b = 2", "TypeError: ");
    expect("vial$v = [1]; import p from 'path'; typeof p", "\"object\"");
    expect("Object.keys(globalThis).filter(name => name.startsWith('vial'))", "[]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_stay_for_later_evaluations),
        TEST(names_can_be_declared_again_with_any_word),
        TEST(a_declaration_without_a_value_begins_anew_unless_it_is_var),
        TEST(later_evaluations_see_new_values_in_old_functions),
        TEST(the_value_is_that_of_the_last_statement),
        TEST(await_does_not_keep_names_from_being_global),
        TEST(functions_are_there_before_their_declaration),
        TEST(a_constant_is_one_in_its_own_evaluation),
        TEST(later_evaluations_may_assign_to_constants),
        TEST(what_a_run_refuses_is_refused),
        TEST(syntax_errors_are_the_engines_own_and_at_their_place),
        TEST(an_error_in_the_middle_keeps_what_was_done),
        TEST(positions_are_those_of_the_source),
        TEST(evaluations_with_names_are_shown_with_them),
        TEST(old_evaluations_are_forgotten_but_for_their_lines),
        TEST(imports_are_names_like_others),
        TEST(a_module_runs_once_in_a_session),
        TEST(imports_fail_as_in_runs),
        TEST(typescript_is_prepared_first),
        TEST(strictness_is_that_of_the_source),
        TEST(lines_do_not_merge),
        TEST(await_can_be_a_name_as_in_runs),
        TEST(an_evaluation_does_not_wait_for_timers),
        TEST(microtasks_and_ticks_are_part_of_an_evaluation),
        TEST(errors_of_left_timers_do_not_end_later_evaluations),
        TEST(a_promise_that_cannot_settle_is_told),
        TEST(nothing_is_forgotten_between_evaluations),
        TEST(an_ordinary_run_is_as_it_was),
        TEST(names_of_our_own_give_no_power),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
