/* doctor.c - `vial doctor`: what really holds on this kernel, shown by trying to break it.
 *
 * The layers come from the canary, a cell that violates each of them while it is confined. The
 * checks are ordinary runs of hostile programs, whose results must say that they were stopped, and
 * by what. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "jail/layer.h"

enum { JSON_BYTES_MAX = 65536, ISOLATION_BYTES_MAX = 16384 };

struct check {
    const char *name;
    const char *says; /* what it shows when it holds */
    const char *source;
    uint64_t memory_mb;
    uint32_t wall_ms, cpu_ms;
    int status;
    uint32_t language; /* JavaScript unless it says something else */
    const char *value; /* as JSON, or NULL */
};

/* Each is tried, and what did not refuse is named. */
static const char PYTHON_SURFACE[] =
    "import os, _thread\n"
    "def opens(path): open(path)\n"
    "tries = {'fork': os.fork, 'exec': lambda: os.execv('/bin/sh', ['sh']), 'passwd': lambda: "
    "opens('/etc/passwd'),\n"
    "         'proc': lambda: opens('/proc/self/environ'), 'kill': lambda: os.kill(-1, 9),\n"
    "         'socket': lambda: __import__('_socket').socket()}\n"
    "left = []\n"
    "for name, attempt in tries.items():\n"
    "    try:\n"
    "        attempt()\n"
    "        left.append(name)\n"
    "    except (OSError, ImportError):\n"
    "        pass\n"
    "left\n";

static const char PYTHON_THREADS[] = "import threading\n"
                                     "lock = threading.Lock()\n"
                                     "lock.acquire()\n"
                                     "count = 0\n"
                                     "try:\n"
                                     "    while True:\n"
                                     "        threading.Thread(target=lock.acquire, "
                                     "daemon=True).start()\n"
                                     "        count += 1\n"
                                     "except RuntimeError:\n"
                                     "    pass\n"
                                     "count < 4096\n";

static const struct check CHECKS[] = {
    {"answers", "a plain program runs", "[1, 2, 3].map(x => x * x)", 0, 0, 0, VIAL_STATUS_OK, 0,
        "[1,4,9]"},
    {"memory", "a program that fills memory is stopped at its limit",
        "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1));", 32, 0, 0,
        VIAL_STATUS_MEMORY_LIMIT, 0, NULL},
    {"heap", "so is one that fills it with small objects",
        "let a = []; for (;;) a = [a, {x: 1.5, y: [1, 2, 3]}];", 32, 0, 0, VIAL_STATUS_MEMORY_LIMIT,
        0, NULL},
    {"cpu", "an endless loop ends with its processor time", "for (;;);", 0, 5000, 100,
        VIAL_STATUS_CPU_LIMIT, 0, NULL},
    {"regexp", "so does a pattern that never ends", "/(a+)+$/.test('a'.repeat(50) + 'b')", 0, 5000,
        100, VIAL_STATUS_CPU_LIMIT, 0, NULL},
    {"wall", "a program that waits for ever ends with its time", "setInterval(() => {}, 1000)", 0,
        100, 0, VIAL_STATUS_WALL_LIMIT, 0, NULL},
    {"output", "a flood of output is cut and ended", "for (;;) console.log('x'.repeat(60000))", 0,
        0, 0, VIAL_STATUS_OUTPUT_LIMIT, 0, NULL},
    {"surface", "there is no way out in the language",
        "['Deno', 'fetch', 'WebAssembly', 'SharedArrayBuffer', 'XMLHttpRequest']"
        ".filter(n => n in globalThis).concat(['child_process.execSync', 'net.connect', "
        "'vm.Script']"
        ".filter(n => { const [m, f] = n.split('.'); try { new (require(m)[f])('id'); return true; "
        "} "
        "catch { return false; } }))",
        0, 0, 0, VIAL_STATUS_OK, 0, "[]"},
    {"clean", "nothing of the programs before is left", "typeof a + Object.keys(globalThis).length",
        0, 0, 0, VIAL_STATUS_OK, 0, "\"undefined0\""},
    {"python", "a plain program in Python runs", "[x * x for x in [1, 2, 3]]", 0, 0, 0,
        VIAL_STATUS_OK, VIAL_LANGUAGE_PYTHON, "[1,4,9]"},
    {"py.memory", "memory has its limit there, too",
        "a = []\nwhile True: a.append(bytearray(1 << 20))", 32, 0, 0, VIAL_STATUS_MEMORY_LIMIT,
        VIAL_LANGUAGE_PYTHON, NULL},
    {"py.cpu", "and so has an endless loop", "while True: pass", 0, 5000, 100,
        VIAL_STATUS_CPU_LIMIT, VIAL_LANGUAGE_PYTHON, NULL},
    {"py.out", "there is no way out in the language", PYTHON_SURFACE, 0, 0, 0, VIAL_STATUS_OK,
        VIAL_LANGUAGE_PYTHON, "[]"},
    {"py.bomb", "threads are bounded", PYTHON_THREADS, 0, 5000, 0, VIAL_STATUS_OK,
        VIAL_LANGUAGE_PYTHON, "true"},
};
enum { CHECKS_COUNT = sizeof(CHECKS) / sizeof(CHECKS[0]) };

struct outcome {
    int passed;
    int status;
    uint64_t us;
};

static int run_check(struct vial_engine *engine, const struct check *c, struct outcome *ret)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result;
    struct vial_error err;
    const char *value;
    size_t len;
    uint64_t before = clock_now_us();

    limits.memory_bytes_max = c->memory_mb << 20;
    limits.wall_ms_max = c->wall_ms;
    limits.cpu_ms_max = c->cpu_ms;
    limits.stdout_bytes_max = 65536;
    request.language = c->language;
    request.source = c->source;
    request.source_len = strlen(c->source);
    request.limits = &limits;
    if (vial_run(engine, &request, &result, &err) < 0) {
        return cli_fail_library(&err);
    }
    ret->us = clock_now_us() - before;
    ret->status = vial_result_status(result);
    value = vial_result_value(result, &len);
    ret->passed = ret->status == c->status &&
                  (c->value == NULL || (value != NULL && len == strlen(c->value) &&
                                           memcmp(value, c->value, len) == 0));
    vial_result_free(result);
    return EXIT_FINE;
}

/* The states of the layers as the engine tells them: the value behind a name in its JSON. */
static const char *layer_state(const char *isolation, const char *name, char *ret, size_t size)
{
    char key[64];
    const char *found, *end;

    (void)snprintf(key, sizeof(key), "{\"name\":\"%s\",\"state\":\"", name);
    found = strstr(isolation, key);
    end = found != NULL ? strchr(found, '}') : NULL;
    if (end == NULL) {
        return "?";
    }
    found += strlen(key);
    (void)snprintf(ret, size, "%.*s", (int)strcspn(found, "\""), found);
    return ret;
}

static void print_layers(struct vial_engine *engine)
{
    const char *isolation = vial_engine_isolation(engine);
    char state[32];
    unsigned i;

    (void)printf("isolation level: %s\n\n", vial_engine_level(engine));
    for (i = 0; i < LAYER_COUNT; i++) {
        (void)printf("  %-14s %-7s %s\n", layer_name(i),
            layer_state(isolation, layer_name(i), state, sizeof(state)), layer_purpose(i));
    }
    (void)printf("\n  proven: a violation was tried and refused; on: applied; off: not there\n");
}

/* What the operator can do about a level below full. */
static void print_advice(struct vial_engine *engine)
{
    const char *level = vial_engine_level(engine);

    if (strcmp(level, "rootless") == 0 &&
        strstr(vial_engine_isolation(engine), "\"memory\":\"polling\"") != NULL) {
        (void)printf(
            "\nWithout a control group memory is watched by polling every 2 ms, and all cells are "
            "the\n"
            "same user outside. A service manager with Delegate=yes gives control groups; for "
            "level\n"
            "full run as root.\n");
    } else if (strcmp(level, "rootless") == 0) {
        (void)printf("\nAll cells are the same user outside. For level full run as root.\n");
    } else if (strcmp(level, "filtered") == 0) {
        (void)printf("\nUser namespaces are forbidden here, so cells see the host's process "
                     "numbers and share its\n"
                     "file tree behind Landlock and the filter. Allow user namespaces, or use\n"
                     "--require rootless to refuse to run like this.\n");
    }
}

static int print_text(struct vial_engine *engine)
{
    struct outcome o = {.passed = 0};
    int failed = 0;
    size_t i;
    int code;

    print_layers(engine);
    (void)printf("\nhostile programs:\n\n");
    for (i = 0; i < CHECKS_COUNT; i++) {
        (void)fflush(stdout);
        code = run_check(engine, &CHECKS[i], &o);
        if (code != EXIT_FINE) {
            return code;
        }
        (void)printf("  %-9s %-7s %-14s %5.0f ms  %s\n", CHECKS[i].name, o.passed ? "ok" : "FAILED",
            vial_status_name(o.status), (double)o.us / 1000, CHECKS[i].says);
        failed += !o.passed;
    }
    print_advice(engine);
    if (failed > 0) {
        return cli_fail(EXIT_EXCEPTION, "%d of %d checks failed", failed, CHECKS_COUNT);
    }
    return EXIT_FINE;
}

static int print_json(struct vial_engine *engine)
{
    const char *isolation = vial_engine_isolation(engine);
    struct json_writer w;
    struct vial_error err;
    struct outcome o = {.passed = 0};
    struct buf out;
    int code = EXIT_FINE, failed = 0;
    size_t i;

    buf_init(&out, JSON_BYTES_MAX);
    json_init(&w, &out, &err);
    json_begin_object(&w);
    /* The report is an object; its members become ours. */
    json_key(&w, "isolation");
    json_raw(&w, isolation, strlen(isolation));
    json_key(&w, "level");
    json_text(&w, vial_engine_level(engine));
    json_key(&w, "checks");
    json_begin_array(&w);
    for (i = 0; i < CHECKS_COUNT && code == EXIT_FINE; i++) {
        code = run_check(engine, &CHECKS[i], &o);
        failed += !o.passed;
        json_begin_object(&w);
        json_key(&w, "name");
        json_text(&w, CHECKS[i].name);
        json_key(&w, "passed");
        json_bool(&w, o.passed);
        json_key(&w, "status");
        json_text(&w, vial_status_name(o.status));
        json_key(&w, "us");
        json_u64(&w, o.us);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    if (code == EXIT_FINE && json_finish(&w) < 0) {
        code = cli_fail_library(&err);
    }
    if (code == EXIT_FINE) {
        (void)printf("%s\n", out.data);
        code = failed > 0 ? EXIT_EXCEPTION : EXIT_FINE;
    }
    buf_release(&out);
    return code;
}

int cmd_doctor(int argc, char **argv)
{
    static const char *const known[] = {"--json", "--help", NULL};
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine;
    struct vial_error err;
    struct cli_args a;
    int json = 0;
    int code;

    cli_args_init(&a, argc, argv);
    while (cli_args_next(&a)) {
        if (a.option == NULL) {
            return cli_fail(EXIT_USAGE, "vial doctor takes no \"%s\"", a.word);
        }
        if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            (void)printf(
                "usage: vial doctor [--json]\n\n"
                "Shows which layers of the wall hold on this kernel. A cell violates each layer "
                "while it\n"
                "is confined, then hostile programs run and must be stopped. Exit code 0 when all "
                "of\n"
                "it held, 1 when a check failed, 126 when this kernel offers too little.\n");
            return EXIT_FINE;
        }
        if (strcmp(a.option, "--json") != 0) {
            return cli_unknown_option("doctor", a.option, known);
        }
        if (cli_args_plain(&a, "doctor") != 0) {
            return EXIT_USAGE;
        }
        json = 1;
    }
    options.pool_count = 2;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        return cli_fail_library(&err);
    }
    code = json ? print_json(engine) : print_text(engine);
    vial_engine_free(engine);
    return code;
}
