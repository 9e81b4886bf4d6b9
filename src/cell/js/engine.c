/* engine.c - JavaScriptCore as a guest language: start-up, warmth, random numbers. See cell/guest.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cell/guest.h"
#include "cell/js/context.h"
#include "cell/js/random.h"
#include "cell/js/run.h"

static struct js_context guest;   /* where guest code will run */
static struct js_context rehearse; /* where our own warm-up runs; guest code never sees it */
static uint64_t *guest_random;
static struct buf rehearsal; /* kept, so that its pages are there */

/* A cell must never start a thread: helpers are off or serve from the calling thread. WebAssembly compiles
 * on a thread of its own in every configuration, so there is none. */
static const char *const OPTIONS[][2] = {
    {"JSC_useConcurrentJIT", "0"},
    {"JSC_useConcurrentGC", "0"},
    {"JSC_numberOfGCMarkers", "1"},
    {"JSC_useWasm", "0"},
    {"JSC_useSharedArrayBuffer", "0"},
    {"TZ", "UTC"},
    {"LC_ALL", "C.UTF-8"},
};

/* Touches what programs commonly use, so that their first use in a cell neither compiles nor opens. */
static const char WARM_SOURCE[] =
    "(() => { const d = new Date(0); d.toISOString(); d.toString(); d.toLocaleString();"
    "new Intl.DateTimeFormat('en', {timeZone: 'Europe/Berlin', dateStyle: 'full'}).format(d);"
    "new Intl.NumberFormat('en').format(1234.5); 'b'.localeCompare('a');"
    "/(\\d+)-(?<x>[a-z]+)/u.exec('12-ab'); 'a,b'.split(',').map(x => x.toUpperCase()).join('');"
    "[3, 1, 2].sort((a, b) => a - b); new Map([[1, 2]]); new Set([1]); JSON.parse('{\"a\":[1]}');"
    "JSON.stringify({a: [1, 'x', null]}); Object.entries({a: 1}); new Uint8Array(8).fill(1);"
    "Promise.resolve(1).then(x => x); (async () => { await null; })(); Symbol('x'); 10n ** 20n;"
    "(0.1).toFixed(3); parseFloat('1.5'); `${1}`; class A { #x = 1; get x() { return this.#x; } }"
    "new A().x; try { null.x } catch (e) { e.stack } return 1; })()";

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

/* Goes through the prelude and common library functions once. */
static int warm_thoroughly(JSContextGroupRef group, const char **ret_why)
{
    JSValueRef exception;

    if (js_context_init(&rehearse, group, ret_why) < 0) {
        return -1;
    }
    (void)js_context_call(&guest, HOOK_WARM, 0, NULL, &exception);
    if (exception != NULL) {
        *ret_why = "warming the prelude";
        return -1;
    }
    rehearse_run(&rehearse, WARM_SOURCE);
    return 0;
}

static int js_warm(int jit, int quick, const char **ret_why)
{
    JSContextGroupRef group;
    size_t i;

    (void)clearenv();
    for (i = 0; i < sizeof(OPTIONS) / sizeof(OPTIONS[0]); i++) {
        (void)setenv(OPTIONS[i][0], OPTIONS[i][1], 1);
    }
    if (!jit) {
        (void)setenv("JSC_useJIT", "0", 1);
    }
    group = JSContextGroupCreate();
    buf_init(&rehearsal, 1024 * 1024);
    tzset(); /* reads the one file that the engine would open later */
    if (js_context_init(&guest, group, ret_why) < 0) {
        return -1;
    }
    if (!quick && warm_thoroughly(group, ret_why) < 0) {
        return -1;
    }
    guest_random = random_find(guest.ctx);
    if (guest_random == NULL) {
        *ret_why = "finding the engine's random numbers";
        return -1;
    }
    JSGarbageCollect(guest.ctx);
    return 0;
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
        rehearse_run(&rehearse, "1+1");
    }
}

static void js_guest_run(const struct guest_start *start, struct buf *result)
{
    js_run(&guest, start, result);
}

const struct guest_ops GUEST = {
    .warm = js_warm,
    .reseed = js_reseed,
    .touch = js_touch,
    .run = js_guest_run,
};
