/* victim.c - a run that does its own business while others attack, and must never feel it.
 *
 * It counts with timers and computes a little, for a third of a second, over and over, in turns in
 * both languages once there are attacks in both. What can be felt is a wrong value, an end of
 * another kind, or a run that takes far longer than it should. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "suite.h"

enum { VICTIM_MS = 300, VICTIM_SLOW_MS = 5000 };

static const char SOURCE[] = "let n = 0, sum = 0;\n"
                             "await new Promise((done) => { const t = setInterval(() => {\n"
                             "  for (let i = 0; i < 1000; i++) sum += i;\n"
                             "  if (++n === 30) { clearInterval(t); done(); } }, 10); });\n"
                             "__return(sum);\n";
static const char PYTHON[] = "import time\n"
                             "from concurrent.futures import ThreadPoolExecutor\n"
                             "def count():\n"
                             "    total = 0\n"
                             "    for _ in range(30):\n"
                             "        total += sum(range(1000))\n"
                             "        time.sleep(0.01)\n"
                             "    return total\n"
                             "ThreadPoolExecutor().submit(count).result()\n";
static const char VALUE[] = "14985000";

static void hurt(struct victim *v, const char *why)
{
    if (__atomic_load_n(&v->hurt_count, __ATOMIC_SEQ_CST) == 0) {
        (void)snprintf(v->why, sizeof(v->why), "%s", why);
    }
    (void)__atomic_add_fetch(&v->hurt_count, 1, __ATOMIC_SEQ_CST);
}

static void *victim_main(void *user)
{
    struct victim *v = user;
    struct vial_result *result;
    char why[WHY_BYTES];
    const char *value;
    uint64_t start;
    int python = 0;

    while (!__atomic_load_n(&v->stop, __ATOMIC_SEQ_CST)) {
        start = clock_now_us();
        python = !python && __atomic_load_n(&v->python, __ATOMIC_SEQ_CST);
        result = (python ? runs_python : runs_source)(
            v->engine, python ? PYTHON : SOURCE, VICTIM_MS + VICTIM_SLOW_MS, why, sizeof(why));
        if (result == NULL) {
            hurt(v, why);
            continue;
        }
        value = vial_result_value(result, NULL);
        if (vial_result_status(result) != VIAL_STATUS_OK) {
            (void)snprintf(
                why, sizeof(why), "it ended with %s", vial_status_name(vial_result_status(result)));
            hurt(v, why);
        } else if (value == NULL || strcmp(value, VALUE) != 0) {
            hurt(v, "it came to a wrong value");
        } else if (clock_now_us() - start > (VICTIM_MS + VICTIM_SLOW_MS) * 1000ULL) {
            hurt(v, "it was slowed down");
        }
        vial_result_free(result);
        (void)__atomic_add_fetch(&v->runs_count, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

void victim_start(struct victim *v, struct vial_engine *engine)
{
    *v = (struct victim){.engine = engine};
    if (pthread_create(&v->thread, NULL, victim_main, v) != 0) {
        v->engine = NULL;
    }
}

void victim_speak_python(struct victim *v)
{
    __atomic_store_n(&v->python, 1, __ATOMIC_SEQ_CST);
}

void victim_stop(struct victim *v)
{
    if (v->engine != NULL) {
        __atomic_store_n(&v->stop, 1, __ATOMIC_SEQ_CST);
        (void)pthread_join(v->thread, NULL);
        v->engine = NULL;
    }
}
