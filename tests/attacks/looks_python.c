/* looks_python.c - cases of the harness's own that are about Python: sessions whose programs do not
 * want to stop, or go on when nothing is asked of them; and what the host keeps for a cell. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "host/session.h"
#include "suite.h"

enum {
    STOP_MS = 100,             /* the limit of programs that are to be stopped */
    LATE_MS = 2500,            /* until then a program that does not stop must be gone */
    REST_MS = 40,              /* how long a session is left alone */
    GREW_BYTES_MAX = 24 << 20, /* of the host, for one cell that asks and does not listen */
    CPU_MS = 300,              /* of processor time, also between two programs */
    RESTLESS_MS = 5000,        /* until the host has noticed, who looks once a second */
    TALKING = 4                /* programs that a thread of the first one talks into */
};

static struct vial_session *open_session(struct suite *s, char *why, size_t size)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session *session = NULL;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_error err = {.code = 0};

    limits.cpu_ms_max = CPU_MS;
    options.language = VIAL_LANGUAGE_PYTHON;
    options.limits = &limits;
    if (vial_session_new(s->engine, &options, &session, &err) < 0) {
        (void)snprintf(why, size, "there is no session: %.300s", err.text);
    }
    return session;
}

/* How a program in a session ended, -1 when it could not be run; *ret_value is what it came to. */
static int evaluate(struct vial_session *session, const char *source, uint32_t wall_ms,
    char *ret_value, char *why, size_t size)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;
    const char *value;
    int status;

    limits.wall_ms_max = wall_ms;
    request.source = source;
    request.source_len = strlen(source);
    request.limits = &limits;
    if (vial_session_eval(session, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "%.40s did not run: %.300s", source, err.text);
        return -1;
    }
    status = vial_result_status(result);
    value = vial_result_value(result, NULL);
    (void)snprintf(ret_value, WHY_BYTES, "%s", value != NULL ? value : "");
    vial_result_error(result, &e);
    (void)snprintf(why, size, "%.40s ended with %s: %.200s", source, vial_status_name(status),
        e.message != NULL ? e.message : "");
    vial_result_free(result);
    return status;
}

/* A program that is asked to stop, and does not: its session ends with it. */
static int never_stops(struct suite *s, const char *source, char *why, size_t size)
{
    struct vial_session *session = open_session(s, why, size);
    uint64_t start = clock_now_us();
    char value[WHY_BYTES];
    int status;

    if (session == NULL) {
        return 0;
    }
    status = evaluate(session, source, STOP_MS, value, why, size);
    vial_session_free(session);
    if (status == VIAL_STATUS_WALL_LIMIT && clock_now_us() - start > LATE_MS * 1000ULL) {
        (void)snprintf(why, size, "it ended too late");
        return 0;
    }
    return status == VIAL_STATUS_WALL_LIMIT;
}

static int look_catches(struct suite *s, char *why, size_t size)
{
    return never_stops(s,
        "while True:\n"
        "    try:\n"
        "        while True: pass\n"
        "    except BaseException:\n"
        "        pass\n",
        why, size);
}

static int look_deaf(struct suite *s, char *why, size_t size)
{
    return never_stops(s,
        "import signal\n"
        "for number in signal.valid_signals():\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "while True: pass\n",
        why, size);
}

static int look_native(struct suite *s, char *why, size_t size)
{
    return never_stops(s, "sum(range(10**12))", why, size);
}

/* A program starts something and ends; the session is left alone, and must be good for more or
 * ended, at the engine's choice, but never in between. ret: its processor time while it rested. */
static int goes_on(struct suite *s, const char *source, char *why, size_t size)
{
    struct vial_session *session = open_session(s, why, size);
    const struct timespec rest = {.tv_nsec = REST_MS * 1000000L};
    char value[WHY_BYTES] = "";
    int status, i;

    if (session == NULL) {
        return 0;
    }
    status = evaluate(session, source, WALL_MS, value, why, size);
    for (i = 0; i < TALKING && status == VIAL_STATUS_OK; i++) {
        (void)nanosleep(&rest, NULL);
        status = evaluate(session, "6 * 7", WALL_MS, value, why, size);
        if (status == VIAL_STATUS_OK && strcmp(value, "42") != 0) {
            (void)snprintf(why, size, "the next program came to %.100s", value);
            status = -1;
        }
    }
    vial_session_free(session);
    return status == VIAL_STATUS_OK;
}

static int look_prints_at_rest(struct suite *s, char *why, size_t size)
{
    return goes_on(s,
        "import threading, os\n"
        "def talk():\n"
        "    while True: os.write(1, b'\\0\\0\\0\\0\\7\\0\\0\\0')\n"
        "threading.Thread(target=talk, daemon=True).start()\n",
        why, size);
}

static int look_prints_slowly(struct suite *s, char *why, size_t size)
{
    return goes_on(s,
        "import threading, time\n"
        "def talk():\n"
        "    while True: print('x'); time.sleep(0.02)\n"
        "threading.Thread(target=talk, daemon=True).start()\n",
        why, size);
}

static int look_reads_at_rest(struct suite *s, char *why, size_t size)
{
    return goes_on(s,
        "import threading, os\n"
        "def look():\n"
        "    while True:\n"
        "        try: open('/usr/lib/python3.11/keyword.py').read(); "
        "os.listdir('/usr/lib/python3.11')\n"
        "        except OSError: pass\n"
        "for _ in range(3): threading.Thread(target=look, daemon=True).start()\n",
        why, size);
}

static int look_shows_at_rest(struct suite *s, char *why, size_t size)
{
    return goes_on(s,
        "import threading, sys\n"
        "def show():\n"
        "    while True: sys.modules['_vial_host'].artifact(None, [('text/plain', b'x' * 1000)])\n"
        "threading.Thread(target=show, daemon=True).start()\n",
        why, size);
}

static int look_computes_at_rest(struct suite *s, char *why, size_t size)
{
    return goes_on(s,
        "import threading\n"
        "def spin():\n"
        "    while True: pass\n"
        "threading.Thread(target=spin, daemon=True).start()\n",
        why, size);
}

/* Native code computes on, and has asked not to hear of the kernel's limit. */
static int look_burns_at_rest(struct suite *s, char *why, size_t size)
{
    static const char source[] = "import hashlib, signal, threading\n"
                                 "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
                                 "for _ in range(4):\n"
                                 "    threading.Thread(target=hashlib.pbkdf2_hmac, args=('sha512', "
                                 "b'x', b'y', 10**9)).start()\n";
    struct vial_session *session = open_session(s, why, size);
    const struct timespec pause = {.tv_nsec = 20 * 1000000L};
    uint64_t until = clock_now_us() + RESTLESS_MS * 1000ULL;
    char value[WHY_BYTES] = "";
    int over = 0;

    if (session == NULL || evaluate(session, source, WALL_MS, value, why, size) != VIAL_STATUS_OK) {
        vial_session_free(session);
        return 0;
    }
    while (!over && clock_now_us() < until) {
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&s->engine->lock);
        over = session->state == VIAL_SESSION_ENDED;
        (void)pthread_mutex_unlock(&s->engine->lock);
    }
    vial_session_free(session);
    (void)snprintf(why, size, "nobody ended it");
    return over;
}

/* A copy of a process with several threads would have one, and the locks of the others. */
static int look_branch_with_threads(struct suite *s, char *why, size_t size)
{
    struct vial_session *session = open_session(s, why, size);
    struct vial_session *copy = NULL;
    struct vial_error err = {.code = 0};
    char value[WHY_BYTES] = "";
    int r = 0, status;

    if (session == NULL) {
        return 0;
    }
    status = evaluate(session,
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n",
        WALL_MS, value, why, size);
    if (status == VIAL_STATUS_OK) {
        r = vial_session_branch(session, 1, &copy, &err);
        (void)snprintf(why, size, "the branch was made");
        vial_session_free(copy);
        status = r < 0 ? evaluate(session, "6 * 7", WALL_MS, value, why, size) : -1;
    }
    vial_session_free(session);
    return status == VIAL_STATUS_OK && strcmp(value, "42") == 0;
}

/* ---- what the host keeps ---- */

/* The most memory that we had since we last asked for the count to begin anew. */
static uint64_t peak_bytes(void)
{
    char text[4096];
    const char *found;
    unsigned long kb = 0;

    if (fd_get_text(AT_FDCWD, "/proc/self/status", text, sizeof(text)) == 0 &&
        (found = strstr(text, "\nVmHWM:")) != NULL) {
        (void)sscanf(found + 7, "%lu", &kb);
    }
    return (uint64_t)kb * 1024;
}

static int look_library_flood(struct suite *s, char *why, size_t size)
{
    const struct attack *flood = attacks_find(s, "L04d");
    struct vial_result *result;
    uint64_t before, after;

    (void)fd_put_text(AT_FDCWD, "/proc/self/clear_refs", "5");
    before = peak_bytes();
    result = runs_raw(s, flood, why, size);
    after = peak_bytes();
    if (result == NULL) {
        return 0;
    }
    vial_result_free(result);
    (void)snprintf(
        why, size, "the host grew by %llu MB", (unsigned long long)(after - before) >> 20);
    return after - before < GREW_BYTES_MAX;
}

const struct attack LOOKS_PYTHON[] = {
    {.look = look_catches,
        .python = 1,
        .id = "Y17a",
        .what = "go on in a session by catching what stops it",
        .answer = "killed:wall_limit"},
    {.look = look_deaf,
        .python = 1,
        .id = "Y17b",
        .what = "go on in a session by blocking the signal that stops it",
        .answer = "killed:wall_limit"},
    {.look = look_native,
        .python = 1,
        .id = "Y17c",
        .what = "go on in a session by native code, which no request to stop reaches",
        .answer = "killed:wall_limit"},
    {.look = look_computes_at_rest,
        .python = 1,
        .id = "Y17d",
        .what = "compute in a thread while its session rests",
        .answer = "contained"},
    {.look = look_prints_at_rest,
        .python = 1,
        .id = "Y17e",
        .what = "talk to the host without a pause while its session rests",
        .answer = "contained"},
    {.look = look_prints_slowly,
        .python = 1,
        .id = "Y17f",
        .what = "talk to the host now and then while its session rests",
        .answer = "contained"},
    {.look = look_reads_at_rest,
        .python = 1,
        .id = "Y17g",
        .what = "look at the library while its session rests",
        .answer = "contained"},
    {.look = look_shows_at_rest,
        .python = 1,
        .id = "Y17h",
        .what = "send artifacts while its session rests",
        .answer = "contained"},
    {.look = look_burns_at_rest,
        .python = 1,
        .id = "Y17j",
        .what = "compute in native code while its session rests",
        .answer = "killed:cpu_limit"},
    {.look = look_branch_with_threads,
        .python = 1,
        .id = "Y17i",
        .what = "be copied in the middle of its threads",
        .answer = "refused"},
    {.look = look_library_flood,
        .python = 1,
        .id = "L04e",
        .what = "make the host grow by answers that nobody reads",
        .answer = "denied",
        .sees = "library-flood"},
};

const unsigned LOOKS_PYTHON_COUNT = sizeof(LOOKS_PYTHON) / sizeof(LOOKS_PYTHON[0]);
