/* engine.c - JavaScriptCore as a guest language: start-up, warmth, random numbers. See
 * cell/guest.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cell/calls.h"
#include "cell/guest.h"
#include "cell/js/context.h"
#include "cell/js/files.h"
#include "cell/js/interrupt.h"
#include "cell/js/narrow.h"
#include "cell/js/random.h"
#include "cell/js/run.h"
#include "cell/memfs.h"
#include "wire/field.h"

static struct js_context guest;    /* where guest code will run */
static struct js_context rehearse; /* where our own warm-up runs; guest code never sees it */
static uint64_t *guest_random;
static struct buf rehearsal; /* kept, so that its pages are there */

/* A cell must never start a thread: helpers are off or serve from the calling thread. WebAssembly
 * compiles on a thread of its own in every configuration, so there is none. */
static const char *const OPTIONS[][2] = {
    {"JSC_useConcurrentJIT", "0"},
    {"JSC_useConcurrentGC", "0"},
    {"JSC_numberOfGCMarkers", "1"},
    {"JSC_useWasm", "0"},
    {"JSC_useSharedArrayBuffer", "0"},
    /* Compiling pays later than the engine thinks: most runs end within a millisecond, and what is
     * hot gets there soon all the same. The defaults are 500 and 100. */
    {"JSC_thresholdForJITAfterWarmUp", "4000"},
    {"JSC_thresholdForJITSoon", "1000"},
    /* The next compiler takes a millisecond for a function, in the only thread that there is. By
     * the engine's own 1000 a function that is called a few hundred times gets there, and never
     * pays: 400 requests to the network took half as long again. Loops take a moment to 20000. */
    {"JSC_thresholdForOptimizeAfterWarmUp", "20000"},
    /* No other engine leaves out the frame of a function whose last call is still going on: stack
     * traces would lack who called. */
    {"JSC_useTailCalls", "0"},
    {"TZ", "UTC"},
    {"LC_ALL", "C.UTF-8"},
};

/* Needed by libgio and libsystemd, which the engine's package links for interfaces that we never
 * call. */
static const char *const UNUSED[] = {"libgio-2.0.", "libgmodule-2.0.", "libgobject-2.0.", "libffi.",
    "libmount.", "libblkid.", "libselinux.", "libpcre2-8.", "libsystemd.", "libgcrypt.",
    "libgpg-error.", "liblzma.", "libzstd.", "liblz4.", "libcap.", "libz.", NULL};

/* A program with modules of each kind, so that the loader has run once; and how its value ends. */
static const char MODULE_MAIN[] =
    "import d, {f, n} from './a.js'; import * as ns from './a.js'; import c from './c.js';\n"
    "import path from 'node:path'; import {EventEmitter} from 'node:events';\n"
    "const late = await import('./d.js'); const e = new EventEmitter();\n"
    "export default [d, f(n), ns.n, c.x, late.default, path.join('a', 'b') + "
    "e.listenerCount('x')];";
static const char *const MODULES[][2] = {
    {"./a.js", "export {f} from './b.js'; export * from './b.js'; export default 1"},
    {"./b.js",
        "import {g} from './e.js'; export let n = 1; export function f(x) { n++; return g(x) }"},
    {"./c.js", "const e = require('./d.js'); const {sep} = require('node:path');\n"
               "exports.x = module.id + sep + e.default;"},
    {"./d.js", "import './e.js'; export default import.meta.url;"},
    {"./e.js", "import {f} from './b.js'; export function g(x) { return f && x }"},
};
static const char MODULE_VALUE[] =
    "[1,1,2,\"./c.js/file:///home/vial/d.js\",\"file:///home/vial/d.js\",\"a/b0\"]";

/* Small, and with a bit of everything that programs have. */
static const char TYPICAL[] =
    "(() => { const f = (list) => list.map(x => ({x, s: `${x}`})); return f([1, 2]); })()";

/* As long as programs usually are, so that the pages are known which such a program takes. */
static const char LONGER[] =
    "class Account {\n"
    "    #amounts = [];\n"
    "    constructor(name, ...amounts) { this.name = name; this.#amounts.push(...amounts); }\n"
    "    get balance() { return this.#amounts.reduce((sum, amount) => sum + amount, 0); }\n"
    "    add(amount) { this.#amounts.push(amount); return this; }\n"
    "    toString() { return `${this.name}: ${this.balance.toFixed(2)}`; }\n"
    "}\n"
    "function read(lines) {\n"
    "    const accounts = new Map();\n"
    "    for (const [index, line] of lines.entries()) {\n"
    "        const match = /^(\\w+)\\s*:\\s*(-?\\d+(?:\\.\\d+)?)$/.exec(line.trim());\n"
    "        if (match === null) {\n"
    "            continue;\n"
    "        }\n"
    "        const [, name, amount] = match;\n"
    "        try {\n"
    "            if (!accounts.has(name)) {\n"
    "                accounts.set(name, new Account(name));\n"
    "            }\n"
    "            accounts.get(name).add(Number(amount));\n"
    "        } catch (error) {\n"
    "            throw new Error(`line ${index + 1}: ${error.message}`);\n"
    "        }\n"
    "    }\n"
    "    return accounts;\n"
    "}\n"
    "function totals(rows, key, value) {\n"
    "    const sums = {};\n"
    "    for (const row of rows) {\n"
    "        sums[row[key]] = (sums[row[key]] ?? 0) + (row[value] || 0);\n"
    "    }\n"
    "    return Object.entries(sums).sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k}: ${v}`);\n"
    "}\n"
    "const primes = (limit) => {\n"
    "    const sieve = new Array(limit + 1).fill(true);\n"
    "    for (let i = 2; i * i <= limit; i++) {\n"
    "        for (let j = i * i; sieve[i] && j <= limit; j += i) {\n"
    "            sieve[j] = false;\n"
    "        }\n"
    "    }\n"
    "    return sieve.flatMap((isPrime, i) => (isPrime && i > 1 ? [i] : []));\n"
    "};\n"
    "const accounts = read(['ann: 5', 'bob: 7.25', 'nobody', 'ann: -2']);\n"
    "const rows = Array.from({length: 20}, (_, i) => ({name: 'n' + (i % 3), amount: i}));\n"
    "const text = JSON.stringify({rows: totals(rows, 'name', 'amount'), primes: primes(50)});\n"
    "const words = new Set(text.match(/[a-z]+/g).filter((word) => word.length > 2));\n"
    "let count = 0;\n"
    "while (count < 5 && words.size > count) {\n"
    "    count++;\n"
    "}\n"
    "({accounts: [...accounts.values()].map(String), words: [...words], back: JSON.parse(text), "
    "count, ...{at: new Date(0)}})\n";

static void rehearse_run(struct js_context *c, const char *source)
{
    struct guest_start start = {.name = "main.js",
        .name_len = 7,
        .source = source,
        .source_len = strlen(source),
        .want_text = 0,
        .timers_max = 16,
        .value_bytes_max = 4096};

    buf_clear(&rehearsal);
    js_run(c, &start, &rehearsal);
}

/* The way of a run with modules; whether it ended well. */
static int rehearse_modules(struct js_context *c)
{
    enum { COUNT = sizeof(MODULES) / sizeof(MODULES[0]) };
    struct guest_module modules[COUNT];
    struct guest_start start = {.name = "main.js",
        .name_len = 7,
        .source = MODULE_MAIN,
        .source_len = sizeof(MODULE_MAIN) - 1,
        .timers_max = 16,
        .value_bytes_max = 4096,
        .modules = modules,
        .module_count = COUNT};

    for (size_t i = 0; i < COUNT; i++) {
        modules[i] = (struct guest_module){.name = MODULES[i][0],
            .name_len = strlen(MODULES[i][0]),
            .source = MODULES[i][1],
            .source_len = strlen(MODULES[i][1])};
    }
    buf_clear(&rehearsal);
    js_run(c, &start, &rehearsal);
    return memmem(rehearsal.data, rehearsal.len, MODULE_VALUE, sizeof(MODULE_VALUE) - 1) != NULL;
}

/* Goes through the prelude and common library functions once. */
static int warm_thoroughly(JSContextGroupRef group, const char **ret_why)
{
    static const struct memfs_limits limits = {
        .bytes_max = MEMFS_PAGE, .files_max = 8, .open_max = 8};
    struct memfs files; /* for the warm-up alone: no cell finds anything of it */
    struct guest_start start = {.files = &files};
    JSValueRef exception;

    if (js_context_init(&rehearse, group, ret_why) < 0) {
        return -1;
    }
    memfs_init(&files, &limits);
    js_files_start(&start);
    (void)js_context_call(&guest, HOOK_WARM, 0, NULL, &exception);
    start.files = NULL;
    js_files_start(&start);
    memfs_release(&files);
    if (exception != NULL) {
        *ret_why = "warming the prelude";
        return -1;
    }
    /* What was freed so far waits in a list of the allocator's, which would be full, and be gone
     * through, in the middle of some run. */
    if (jsc_settle_freed != NULL) {
        jsc_settle_freed();
    }
    if (!rehearse_modules(&guest)) {
        *ret_why = "warming the module loader";
        return -1;
    }
    /* Last: the allocator then goes on where these did, and a cell writes to 40 pages less. */
    rehearse_run(&rehearse, TYPICAL);
    rehearse_run(&guest, "1+1");
    (void)js_context_call(&guest, HOOK_FRESH, 0, NULL, &exception);
    return 0;
}

static int js_warm(const struct guest_warmth *warmth, const char **ret_why)
{
    JSContextGroupRef group;
    size_t i;

    (void)clearenv();
    for (i = 0; i < sizeof(OPTIONS) / sizeof(OPTIONS[0]); i++) {
        (void)setenv(OPTIONS[i][0], OPTIONS[i][1], 1);
    }
    if (!warmth->jit) {
        (void)setenv("JSC_useJIT", "0", 1);
    }
    if (warmth->stays) { /* compiled code looks whether it is to stop: loops over integers are a
                    third slower */
        (void)setenv("JSC_usePollingTraps", "1", 1);
    }
    jsc_disable_scavenger();
    group = JSContextGroupCreate();
    (void)narrow_find(); /* without it large values are slower */
    buf_init(&rehearsal, (size_t)1024 * 1024);
    tzset(); /* reads the one file that the engine would open later */
    if (js_context_init(&guest, group, ret_why) < 0) {
        return -1;
    }
    if (!warmth->quick && warm_thoroughly(group, ret_why) < 0) {
        return -1;
    }
    guest_random = random_find(guest.ctx);
    if (guest_random == NULL) {
        *ret_why = "finding the engine's random numbers";
        return -1;
    }
    if (warmth->stays) {
        /* Without it programs of sessions are not stopped but ended with their session. */
        (void)interrupt_prepare(guest.ctx);
    }
    return 0;
}

static void js_stay(void)
{
    interrupt_listen();
    calls_poll();
}

static int js_reseed(const uint64_t seed[4])
{
    guest_random[0] = seed[0] | 1; /* xorshift needs a state that is not zero */
    guest_random[1] = seed[1];
    return 0;
}

static void js_touch(void)
{
    if (rehearse.ctx != NULL) {
        rehearse_run(&rehearse, TYPICAL);
        js_run_nothing(&guest);
    }
}

static void js_rehearse(void)
{
    rehearse_run(&guest, "1+1");
}

static void js_rehearse_longer(void)
{
    rehearse_run(&guest, LONGER);
}

static void js_rehearse_modules(void)
{
    js_touch(); /* a cell has done so by then, and goes on behind what that took */
    rehearse_run(&guest, "import path from 'node:path'; import {EventEmitter} from 'node:events';\n"
                         "const f = async (x) => x; await f(1);\n"
                         "export default path.join('a', 'b') + typeof EventEmitter;");
}

static void js_guest_run(const struct guest_start *start, struct buf *result)
{
    JSValueRef exception;

    if (start->session != SESSION_EVAL) {
        js_run(&guest, start, result);
        return;
    }
    interrupt_begin();
    js_run(&guest, start, result);
    if (interrupt_end()) {
        (void)js_context_call(&guest, HOOK_REPAIR, 0, NULL, &exception);
        buf_clear(result);
        if (field_add_u32(result, FIELD_OUTCOME, OUTCOME_INTERRUPTED, NULL) < 0) {
            _exit(1);
        }
    }
}

const struct guest_ops GUEST = {
    .unused_libraries = UNUSED,
    .warm = js_warm,
    .reseed = js_reseed,
    .touch = js_touch,
    .rehearse = js_rehearse,
    .rehearse_longer = js_rehearse_longer,
    .rehearse_modules = js_rehearse_modules,
    .stay = js_stay,
    .branched = calls_forget,
    .run = js_guest_run,
};
