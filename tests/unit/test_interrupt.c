/* test_interrupt.c - evaluations that never end by themselves are ended from outside, in code of
 * every tier, and the engine is as good as new afterwards. Each test has a process and an engine of
 * its own; a timer of the kernel sends the signal that a host would send. */
#include "cell/js/interrupt.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cell/js/native.h"
#include "helper.h"
#include "jail/filter.h"
#include "jail/fork.h"

enum {
    TEST_SECONDS_MAX = 100,
    REPEAT_US = 5000,  /* a host repeats the signal */
    SOON_US = 2000000, /* far above what is measured (see the report of the test), for slow hosts */
    ROUNDS = 1200,     /* interruptions of one engine */
    ROUNDS_BEFORE = 400,      /* until then an engine grows to its working size */
    GROWTH_PAGES_MAX = 16384, /* it still grows and shrinks by a part of this with its garbage */
};

static JSGlobalContextRef context;
static timer_t timer;
static unsigned after_count;  /* calls of after(), which no program here should reach */
static unsigned reject_count; /* rejections that nobody handled */
static uint64_t slowest_us;

NATIVE(count_after)
{
    NATIVE_UNUSED;
    (void)argc;
    (void)argv;
    after_count++;
    return JSValueMakeUndefined(ctx);
}

NATIVE(count_rejection)
{
    NATIVE_UNUSED;
    (void)argc;
    (void)argv;
    reject_count++;
    return JSValueMakeUndefined(ctx);
}

/* Calls the engine from where the engine has called, as the loader of modules does. */
NATIVE(call_nested)
{
    double n;

    (void)function;
    (void)self;
    n = argc > 0 ? JSValueToNumber(ctx, argv[0], exception) : 0;
    interrupt_pass_on(exception);
    return JSValueMakeNumber(ctx, n);
}

static void add_function(const char *name, JSObjectCallAsFunctionCallback function)
{
    JSStringRef string = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(context, JSContextGetGlobalObject(context), string,
        JSObjectMakeFunctionWithCallback(context, string, function), kJSPropertyAttributeNone,
        NULL);
    JSStringRelease(string);
}

/* options: NULL, or words NAME=VALUE for the engine. 0 when all is ready. */
static int start_engine(const char *options)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = FRAME_STOP_SIGNAL};
    char words[512], name[64], value[64];
    const char *at = words;
    int used = 0;

    (void)snprintf(words, sizeof(words),
        "useConcurrentJIT=0 useConcurrentGC=0 numberOfGCMarkers=1 useWasm=0 useSharedArrayBuffer=0 "
        "usePollingTraps=1 %s",
        options != NULL ? options : "");
    (void)memcpy(name, "JSC_", 4);
    while (sscanf(at, " %59[^=]=%63s%n", name + 4, value, &used) == 2) {
        (void)setenv(name, value, 1);
        at += used;
    }
    (void)alarm(TEST_SECONDS_MAX);
    jsc_disable_scavenger();
    if (fork_prepare() < 0) {
        return -1;
    }
    context = JSGlobalContextCreate(NULL);
    add_function("after", count_after);
    add_function("nested", call_nested);
    JSGlobalContextSetUnhandledRejectionCallback(
        context, JSObjectMakeFunctionWithCallback(context, NULL, count_rejection), NULL);
    if (interrupt_prepare(context) < 0) {
        return -1;
    }
    interrupt_listen();
    return timer_create(CLOCK_MONOTONIC, &event, &timer);
}

static void set_timer(uint64_t first_us, uint64_t then_us)
{
    struct itimerspec when = {.it_value = {.tv_nsec = (long)first_us * 1000},
        .it_interval = {.tv_nsec = (long)then_us * 1000}};

    (void)timer_settime(timer, 0, &when, NULL);
}

static JSValueRef evaluate(const char *text)
{
    JSStringRef source = JSStringCreateWithUTF8CString(text);
    JSValueRef value = JSEvaluateScript(context, source, NULL, NULL, 1, NULL);

    JSStringRelease(source);
    return value;
}

/* The number that a text comes to by itself; -1 when it throws, -2 when it was interrupted. */
static double number(const char *text)
{
    JSValueRef value;
    double n;

    interrupt_begin();
    value = evaluate(text);
    n = value != NULL ? JSValueToNumber(context, value, NULL) : -1;
    return interrupt_end() != 0 ? -2 : n;
}

/* Evaluates what never ends and interrupts it after a while. 1 when it was. */
static int interrupt(const char *text, uint64_t after_us)
{
    uint64_t start = clock_now_us();
    uint64_t took;
    int interrupted;

    interrupt_begin();
    set_timer(after_us, REPEAT_US);
    (void)evaluate(text);
    set_timer(0, 0);
    took = clock_now_us() - start - after_us;
    slowest_us = took > slowest_us ? took : slowest_us;
    interrupted = interrupt_happened();
    return interrupt_end() == interrupted && interrupted && took < SOON_US;
}

static uint64_t some_us(void)
{
    static uint32_t x = 12345; /* the same times in every test run, so that a failure comes again */

    x = x * 1103515245 + 12345;
    return 50 + (x >> 8) % 6000;
}

/* Programs without an end. Whatever calls after() has gone on when it must not. */
static const char *const ENDLESS[] = {
    "for (;;);",
    "while (true) { [1, 2, 3].map(x => x * 2) }",
    "do {} while (1)",
    "l: for (const x of [1]) while (true) continue;",
    "try { for (;;); } catch { after() } finally { after() }",
    "for (;;) try { throw 1 } catch { } finally { }",
    "(() => { try { for (;;); } finally { return 1 } })(); after()",
    "(function f(n) { for (;;) { if (n > 100) return; f(n + 1) } })(0); after()",
    "(function f() { for (;;) { try { f() } catch { } } })(); after()",
    "for (const x of (function* () { try { for (;;) yield 1 } finally { after() } })());",
    "[...(function* () { for (;;) yield* [] })()]",
    "[3, 2, 1].sort(() => { for (;;); })",
    "for (;;) try { [1].map(function f(x) { return [x].map(f) }) } catch { }",
    "for (;;) JSON.stringify(Array(1000).fill({ a: [1, 2, { b: 3 }] }))",
    "JSON.stringify({ toJSON() { for (;;); } })",
    "JSON.parse('[1]', () => { for (;;); })",
    "'a'.replace(/a/, () => { for (;;); })",
    "for (;;) 'a'.repeat(100000).split('').join('x')",
    "for (;;) /(x+x+)+y/.test('x'.repeat(15))",
    "Promise.resolve().then(function f() { return Promise.resolve().then(f) })",
    "Promise.resolve().then(() => { for (;;); })",
    "(async () => { for (;;) await 1 })()",
    "(async () => { try { for (;;) await null } catch { after() } finally { after() } })()",
    "(async () => { await 1; for (;;); })().then(after, after).finally(after)",
    "(async () => { for await (const x of (async function* () { for (;;) yield 1 })()); })()",
    "Promise.resolve().then(after); for (;;);",
    "new Proxy({}, { get() { for (;;); } }).x",
    "`${{ toString() { for (;;); } }}`",
    "eval('for (;;);')",
    "new Function('for (;;);')()",
    "class A { static { for (;;); } }",
    "Reflect.ownKeys(new Proxy({}, { ownKeys() { for (;;); } }))",
    "const s = new Set([1]); for (const x of s) { s.delete(x); s.add(x) }",
    "let big = 1n; for (;;) big = (big * 3n) % (1n << 200n)",
    "const o = {}; for (let i = 0;; i++) { o['k' + i % 99] = { i }; delete o['k' + (i + 7) % 99] }",
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "new Array(4e9).indexOf(5)",
    "const m = new Map(); for (let i = 0;; i++) { m.set(i, [i]); if (m.size > 1000) m.clear() }",
    "for (;;) nested({ valueOf() { for (;;); } })",
    "try { nested({ valueOf() { for (;;); } }); after() } catch { after() } finally { after() }",
    "nested({ valueOf() { nested({ valueOf() { try { for (;;); } finally { after() } } }) } })",
};
enum { ENDLESS_COUNT = sizeof(ENDLESS) / sizeof(ENDLESS[0]) };

/* Wraps a program so that its own let and const do not collide with those of others. */
static const char *alone(const char *text)
{
    static char block[1024];

    (void)snprintf(block, sizeof(block), "{ %s }", text);
    return block;
}

/* Is everything in order that an interruption could have hurt? */
static int is_sound(void)
{
    static const char work[] =
        "(() => { let caught = 0, last = 0, sum = 0;"
        "try { throw new Error('x') } catch (e) { caught = e.message === 'x' } finally { last = 1 }"
        "for (const x of (function* () { yield 1; yield 2 })()) sum += x;"
        "const list = Array.from({ length: 200 }, (_, i) => i ^ 21).sort((a, b) => a - b);"
        "const f = n => n < 2 ? n : f(n - 1) + f(n - 2);"
        "return caught && last && sum === 3 && list[150] === 150 && f(12) === 144 &&"
        "JSON.parse(JSON.stringify({ a: [1, { b: 2 }] })).a[1].b === 2 && /b+/.exec('abb')[0] === "
        "'bb' })() ? 42 : 0";

    if (number(work) != 42 || after_count != 0) {
        return 0;
    }
    return number("var step = 0; (async () => { await 1; step = 1; await 2; step = 2 })(); 0") ==
               0 &&
           number("step") == 2;
}

static int end_each(void *user)
{
    unsigned i;

    CHILD_CHECK(start_engine(user) == 0);
    for (i = 0; i < ENDLESS_COUNT; i++) {
        if (!interrupt(alone(ENDLESS[i]), 10000) || !is_sound()) {
            (void)fprintf(stderr, "not ended, or not well: %s\n", ENDLESS[i]);
            return CHILD_FAILED;
        }
    }
    return CHILD_FINE;
}

/* What the engine is told so that code gets no further than one tier, and gets there soon. */
#define SOON "thresholdForJITAfterWarmUp=10 thresholdForJITSoon=5 "
#define SOON_DFG SOON "thresholdForOptimizeAfterWarmUp=50 thresholdForOptimizeSoon=50 "
static char tier_interpreter[] = "useJIT=0";
static char tier_baseline[] = SOON "useDFGJIT=0";
static char tier_dfg[] = SOON_DFG "useFTLJIT=0";
static char tier_ftl[] = SOON_DFG "thresholdForFTLOptimizeAfterWarmUp=500";
static char tier_default[] = "";

static void endless_programs_end_in_the_interpreter(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(end_each, tier_interpreter), CHILD_FINE);
}

static void endless_programs_end_in_compiled_code(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(end_each, tier_baseline), CHILD_FINE);
    assert_int_equal(helper_in_child(end_each, tier_dfg), CHILD_FINE);
    assert_int_equal(helper_in_child(end_each, tier_ftl), CHILD_FINE);
}

/* Programs that have been compiled as well as their tier allows when the signal comes. */
static const char *const HOT[] = {
    "function hot(n) { let s = 0; for (let i = 0; i !== n; i = (i + 2) & 1023) s = (s + i) | 0;"
    "return s } for (let k = 0; k < 3000; k++) hot(1000); for (;;) hot(-1)",
    "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } fib(20); fib(70); after()",
    "const a = new Float64Array(1e4); function sum() { let s = 0; for (let i = 0; i < a.length; "
    "i++)"
    "{ s += a[i] } return s } for (;;) sum()",
    "function inner(i) { try { if (i % 3 === 0) throw i; return i } catch (e) { return e } finally "
    "{"
    "globalThis.last = i } } for (let i = 0;; i++) inner(i & 1023)",
};

static int end_hot(void *user)
{
    unsigned i;

    CHILD_CHECK(start_engine(user) == 0);
    for (i = 0; i < 2 * sizeof(HOT) / sizeof(HOT[0]); i++) {
        CHILD_CHECK(interrupt(alone(HOT[i / 2]), 150000));
        CHILD_CHECK(is_sound());
    }
    return CHILD_FINE;
}

static void hot_programs_end_in_every_tier(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(end_hot, tier_interpreter), CHILD_FINE);
    assert_int_equal(helper_in_child(end_hot, tier_baseline), CHILD_FINE);
    assert_int_equal(helper_in_child(end_hot, tier_dfg), CHILD_FINE);
    assert_int_equal(helper_in_child(end_hot, tier_ftl), CHILD_FINE);
    assert_int_equal(helper_in_child(end_hot, tier_default), CHILD_FINE);
}

static int fail_to_end_hot(void *user)
{
    CHILD_CHECK(start_engine(user) == 0);
    (void)alarm(1);
    (void)interrupt(alone(HOT[0]), 150000);
    return CHILD_FINE;
}

/* Shows that the test above has had well compiled code before it, and why the option is needed. */
static void well_compiled_code_needs_the_option(void **state)
{
    static char dfg[] = SOON_DFG "useFTLJIT=0 usePollingTraps=0";
    static char ftl[] = SOON_DFG "thresholdForFTLOptimizeAfterWarmUp=500 usePollingTraps=0";

    (void)state;
    assert_int_equal(helper_in_child(fail_to_end_hot, dfg), 256 + SIGALRM);
    assert_int_equal(helper_in_child(fail_to_end_hot, ftl), 256 + SIGALRM);
}

static long pages_used(void)
{
    char text[256];
    long pages = -1;

    JSGarbageCollect(context);
    if (fd_get_text(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) < 0 ||
        sscanf(text, "%*d %ld", &pages) != 1) {
        return -1;
    }
    return pages;
}

static int end_many(void *user)
{
    long before = 0;
    unsigned i;

    CHILD_CHECK(start_engine(user) == 0);
    for (i = 0; i < ROUNDS; i++) {
        if (!interrupt(alone(ENDLESS[i * 7 % ENDLESS_COUNT]), some_us())) {
            (void)fprintf(stderr, "round %u: not ended: %s\n", i, ENDLESS[i * 7 % ENDLESS_COUNT]);
            return CHILD_FAILED;
        }
        CHILD_CHECK(i % 40 != 0 || is_sound());
        before = i == ROUNDS_BEFORE ? pages_used() : before;
    }
    CHILD_CHECK(is_sound());
    (void)printf("# %d interruptions: %ld pages before, %ld after; the slowest took %lu us\n",
        ROUNDS, before, pages_used(), (unsigned long)slowest_us);
    (void)fflush(stdout);
    CHILD_CHECK(before > 0 && pages_used() < before + GROWTH_PAGES_MAX);
    return CHILD_FINE;
}

static void a_thousand_interruptions_leave_an_engine_sound(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(end_many, tier_default), CHILD_FINE);
    assert_int_equal(helper_in_child(end_many, tier_ftl), CHILD_FINE);
}

/* Signals all the time, in short programs and around them: a program either comes to its value or
 * was interrupted, and nothing else ever happens. */
static int storm(void *user)
{
    unsigned interrupted = 0, ended = 0, i;
    JSValueRef value;
    double n;

    CHILD_CHECK(start_engine(user) == 0);
    set_timer(1000, 997);
    for (i = 0; i < 8000; i++) {
        interrupt_begin();
        value = evaluate("{ let n = 0; for (let i = 0; i < 200; i++) n += [i].map(x => x + 1)[0];"
                         "Promise.resolve(n).then(x => { globalThis.sum = x }); n }");
        n = value != NULL ? JSValueToNumber(context, value, NULL) : -1;
        if (interrupt_end() != 0) {
            interrupted++;
        } else {
            CHILD_CHECK(n == 20100);
            ended++;
        }
    }
    set_timer(0, 0);
    (void)printf("# a storm: %u interrupted, %u ended\n", interrupted, ended);
    (void)fflush(stdout);
    CHILD_CHECK(interrupted > 100 && ended > 100);
    CHILD_CHECK(is_sound());
    for (i = 0; i < 300; i++) { /* and while one is being met */
        interrupt_begin();
        set_timer(200, 61);
        (void)evaluate(alone(ENDLESS[i % ENDLESS_COUNT]));
        set_timer(0, 0);
        CHILD_CHECK(interrupt_end() == 1);
    }
    CHILD_CHECK(is_sound());
    return CHILD_FINE;
}

static void a_storm_of_signals_does_no_harm(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(storm, tier_default), CHILD_FINE);
}

static int come_late(void *user)
{
    CHILD_CHECK(start_engine(user) == 0);
    (void)raise(FRAME_STOP_SIGNAL); /* before any evaluation */
    CHILD_CHECK(number("for (let i = 0; i < 1e4; i++); 7") == 7);
    (void)raise(FRAME_STOP_SIGNAL); /* after one */
    CHILD_CHECK(number("for (let i = 0; i < 1e4; i++); 8") == 8);

    interrupt_begin(); /* before its first instruction */
    (void)raise(FRAME_STOP_SIGNAL);
    CHILD_CHECK(interrupt_happened() && evaluate("after()") == NULL && interrupt_end() == 1);

    interrupt_begin(); /* behind its last one */
    CHILD_CHECK(evaluate("9") != NULL && !interrupt_happened());
    (void)raise(FRAME_STOP_SIGNAL);
    CHILD_CHECK(interrupt_end() == 1);
    CHILD_CHECK(number("for (let i = 0; i < 1e4; i++); 10") == 10);
    CHILD_CHECK(is_sound());
    return CHILD_FINE;
}

static void a_signal_never_hits_another_evaluation(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(come_late, NULL), CHILD_FINE);
}

static int keep_state(void *user)
{
    CHILD_CHECK(start_engine(user) == 0);
    CHILD_CHECK(number("var n = 0; var list = [1, 2]; var settle; var got = 0;"
                       "new Promise(f => { settle = f }).then(v => { got = v }); 1") == 1);
    CHILD_CHECK(
        interrupt("for (;;) { n++; list.push(n); if (list.length > 100) list.length = 2 }", 20000));
    CHILD_CHECK(number("n") > 1000);
    CHILD_CHECK(number("list[0] + list[1]") == 3);
    CHILD_CHECK(number("settle(5); 1") == 1);
    CHILD_CHECK(number("got") == 5);
    return CHILD_FINE;
}

static void what_was_made_before_is_still_there(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(keep_state, NULL), CHILD_FINE);
}

static int drop_promises(void *user)
{
    CHILD_CHECK(start_engine(user) == 0);
    CHILD_CHECK(interrupt("Promise.resolve().then(after); for (;;);", 50000));
    CHILD_CHECK(interrupt("for (let i = 0; i < 100; i++) Promise.resolve().then(i === 50 ? () => {"
                          "for (;;); } : i > 50 ? after : () => {})",
        50000));
    CHILD_CHECK(
        interrupt("var waits = (async () => { await 1; for (;;); })(); waits.then(after)", 50000));
    CHILD_CHECK(number("1") == 1 && after_count == 0);
    CHILD_CHECK(number("waits.then(after, after); 2") == 2);
    CHILD_CHECK(number("3") == 3 && after_count == 0); /* it never settles */
    CHILD_CHECK(is_sound());
    return CHILD_FINE;
}

static void promises_of_an_interrupted_evaluation_never_go_on(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(drop_promises, NULL), CHILD_FINE);
}

static int tell_rejections(void *user)
{
    CHILD_CHECK(start_engine(user) == 0);
    CHILD_CHECK(interrupt("Promise.reject(new Error('lost')); for (;;);", 50000));
    CHILD_CHECK(reject_count == 1); /* by interrupt_end: it is not the next evaluation's */
    CHILD_CHECK(number("2") == 2 && reject_count == 1);
    CHILD_CHECK(number("Promise.reject(1); 3") == 3 && reject_count == 2);
    return CHILD_FINE;
}

static void rejections_are_told_before_the_next_evaluation(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(tell_rejections, NULL), CHILD_FINE);
}

/* In a copy that is process 1 of its namespace and has the filter of a cell. */
static int end_confined(void)
{
    int i;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_load(&filter_template) < 0 ||
        filter_load(&filter_compute) < 0 || getpid() != 1) {
        return CHILD_FAILED;
    }
    for (i = 0; i < 5; i++) {
        interrupt_begin();
        (void)evaluate(alone(ENDLESS[i]));
        if (interrupt_end() != 1) {
            return CHILD_FAILED;
        }
    }
    return after_count == 0 && number("6 * 7") == 42 ? CHILD_FINE : CHILD_FAILED;
}

static int interrupt_confined(void *user)
{
    int pidfd = -1;
    int status = 0;
    pid_t pid;

    CHILD_CHECK(start_engine(user) == 0);
    pid = fork_clone(CLONE_NEWUSER | CLONE_NEWPID, &pidfd);
    if (pid == 0) {
        _exit(end_confined());
    }
    if (pid < 0) {
        return CHILD_SKIPPED;
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        helper_sleep_ms(5);
        (void)syscall(SYS_pidfd_send_signal, pidfd, FRAME_STOP_SIGNAL, NULL, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FAILED;
}

static void the_first_process_of_a_namespace_can_be_interrupted(void **state)
{
    int r = helper_in_child(interrupt_confined, NULL);

    (void)state;
    if (r == CHILD_SKIPPED) {
        helper_say_skip("no user namespaces here");
        skip();
    }
    assert_int_equal(r, CHILD_FINE);
}

/* An engine whose interruption was not prepared, as in templates that have no sessions. */
static int unprepared(void *user)
{
    (void)user;
    (void)alarm(TEST_SECONDS_MAX);
    interrupt_listen();
    context = JSGlobalContextCreate(NULL);
    interrupt_begin();
    (void)raise(FRAME_STOP_SIGNAL);
    CHILD_CHECK(evaluate("for (let i = 0; i < 1e4; i++); 7") != NULL);
    CHILD_CHECK(!interrupt_happened() && interrupt_end() == 0);
    return CHILD_FINE;
}

static void without_preparation_nothing_happens(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(unprepared, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_programs_end_in_the_interpreter),
        cmocka_unit_test(endless_programs_end_in_compiled_code),
        cmocka_unit_test(hot_programs_end_in_every_tier),
        cmocka_unit_test(well_compiled_code_needs_the_option),
        cmocka_unit_test(a_thousand_interruptions_leave_an_engine_sound),
        cmocka_unit_test(a_storm_of_signals_does_no_harm),
        cmocka_unit_test(a_signal_never_hits_another_evaluation),
        cmocka_unit_test(what_was_made_before_is_still_there),
        cmocka_unit_test(promises_of_an_interrupted_evaluation_never_go_on),
        cmocka_unit_test(rejections_are_told_before_the_next_evaluation),
        cmocka_unit_test(the_first_process_of_a_namespace_can_be_interrupted),
        cmocka_unit_test(without_preparation_nothing_happens),
    };

    return cmocka_run_group_tests_name("interrupt", tests, NULL, NULL);
}
