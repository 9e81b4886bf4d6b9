/* probe.c - a host program for tests/vm/inside: two engines, one after the other, six runs in each.
 *
 * Prints a line for each check, "ok ..." or "FAIL ...". Slots are few, so cells follow each other
 * in the same one, and the peak of one must not show up in the next. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <vial.h>

#define FILL(n)                                                                                    \
    "const a = []; for (let i = 0; i < " #n "; i++) a.push(new Uint8Array(1 << 20).fill(1)); 0"
static const struct {
    const char *source;
    int status;
    unsigned mb_min, mb_max;
} RUNS[] = {{"1", VIAL_STATUS_OK, 0, 4}, {FILL(16), VIAL_STATUS_OK, 16, 30},
    {"1", VIAL_STATUS_OK, 0, 4}, {FILL(1e6), VIAL_STATUS_MEMORY_LIMIT, 40, 56},
    {"1", VIAL_STATUS_OK, 0, 4}, {"1", VIAL_STATUS_OK, 0, 4}};

static unsigned long slot(void) /* the inode of the first slot's directory; 0: there is none */
{
    glob_t g = {.gl_pathc = 0};
    struct stat st = {.st_ino = 0};

    if (glob("/sys/fs/cgroup/{,service/}vial.[0-9]*/0", GLOB_BRACE, NULL, &g) == 0)
        (void)stat(g.gl_pathv[0], &st);
    globfree(&g);
    return st.st_ino;
}

int main(void)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_error err = {.text = ""};
    int engine_index, polling;

    options.pool_count = options.runs_max = 1;
    options.queue_ms_max = limits.wall_ms_max = limits.cpu_ms_max = 60000;
    limits.memory_bytes_max = 48 << 20;
    for (engine_index = 1; engine_index <= 2; engine_index++) {
        struct vial_engine *engine;
        unsigned long first;
        char group[256] = "";
        unsigned i;
        FILE *f;

        if (vial_engine_new(&options, &engine, &err) < 0)
            return printf("FAIL engine %d: %s\n", engine_index, err.text), 1;
        f = fopen("/proc/self/cgroup", "r");
        if (f != NULL && fgets(group, sizeof(group), f) != NULL)
            (void)fclose(f);
        printf("%s engine %d: level %s, in %s", strstr(group, "vial.host/") ? "FAIL" : "ok",
            engine_index, vial_engine_level(engine), group);
        vial_engine_settle(engine, 10000);
        first = slot();
        for (i = 0; i < sizeof(RUNS) / sizeof(RUNS[0]); i++) {
            struct vial_request request = VIAL_REQUEST_INIT;
            struct vial_usage usage = VIAL_USAGE_INIT;
            struct vial_result *result;
            int status;

            request.source = RUNS[i].source;
            request.source_len = strlen(request.source);
            request.limits = &limits;
            if (vial_run(engine, &request, &result, &err) < 0)
                return printf("FAIL run %u: %s\n", i, err.text), 1;
            status = vial_result_status(result);
            vial_result_usage(result, &usage);
            printf("%s run %u: %s, memory peak %llu\n",
                status == RUNS[i].status &&
                        usage.memory_bytes_peak >= (uint64_t)RUNS[i].mb_min << 20 &&
                        usage.memory_bytes_peak <= (uint64_t)RUNS[i].mb_max << 20
                    ? "ok"
                    : "FAIL",
                i, vial_status_name(status), (unsigned long long)usage.memory_bytes_peak);
            vial_result_free(result);
        }
        vial_engine_settle(engine, 10000);
        polling = strstr(vial_engine_isolation(engine), "\"memory\":\"polling\"") != NULL;
        printf("%s %s\n", slot() == first && (first == 0) == polling ? "ok" : "FAIL",
            polling ? "there are no slots" : "slots are used again");
        vial_engine_free(engine);
    }
    return 0;
}
