/* env_test.c - `vial env test`: starts an environment once, before anybody depends on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/env.h"
#include "cli/report.h"
#include "vial.h"

/* Starts the template of the environment, and tells how long its prefix took and what it uses. */
static int start_template_once(const char *json, const struct store_version *version)
{
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_engine *engine = NULL;
    struct vial_result *result = NULL;
    struct vial_env *env = NULL;
    struct vial_error err;
    int code = EXIT_FINE;

    eo.pool_count = eo.runs_max = 1;
    eo.quick = eo.for_sessions = 1;
    if (vial_engine_new(&eo, &engine, &err) < 0 ||
        vial_env_new(engine, json, strlen(json), NULL, 0, &env, &err) < 0 ||
        vial_env_start(env, &result, &err) < 0) {
        code = cli_fail_library(&err);
    } else if (vial_result_status(result) != VIAL_STATUS_OK) {
        report_error(result, "prefix.js");
        code = report_exit_code(vial_result_status(result));
    } else {
        vial_result_usage(result, &usage);
        (void)printf("%s@%u starts: its prefix takes %.1f ms (%.1f ms of processor time) and "
                     "leaves %.1f MB behind\n",
            version->name, version->version, (double)usage.wall_us / 1000,
            (double)usage.cpu_us / 1000, (double)usage.memory_bytes_peak / 1048576);
    }
    vial_result_free(result);
    vial_env_free(env);
    vial_engine_free(engine);
    return code;
}

int env_test(const struct env_options *o)
{
    struct store_version version;
    char *json = NULL;
    int code = env_load(o, NULL, &version, &json);

    if (code != 0) {
        return code;
    }
    code = start_template_once(json, &version);
    free(json);
    return code;
}
