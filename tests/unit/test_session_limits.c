/* test_session_limits.c - what a program of a session may ask for: not more than its environment
 * allows, and no more memory and files than all of the session has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

static struct vial_engine *engine;

static int start_engine(void **state)
{
    (void)state;
    engine = helper_engine();
    return 0;
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

/* Evaluates with a limit on the wall time; the status, or a negative code. */
static int eval(struct vial_session *session, const char *source, uint32_t wall_ms)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    int r;

    limits.wall_ms_max = wall_ms;
    request.source = source;
    request.source_len = strlen(source);
    request.limits = &limits;
    r = vial_session_eval(session, &request, &result, NULL);
    r = r < 0 ? r : vial_result_status(result);
    vial_result_free(result);
    return r;
}

static void an_environment_limits_its_sessions(void **state)
{
    static const char document[] = "{\"name\":\"a\",\"limits\":{\"max\":{\"wall_ms_max\":2000}}}";
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session *session = NULL;
    struct vial_session *branch = NULL;
    struct vial_env *env = NULL;

    (void)state;
    assert_int_equal(vial_env_new(engine, document, strlen(document), NULL, 0, &env, NULL), 0);
    options.environment = env;
    assert_int_equal(vial_session_new(engine, &options, &session, NULL), 0);
    assert_int_equal(eval(session, "1", 2000), VIAL_STATUS_OK);
    assert_int_equal(eval(session, "1", 2001), VIAL_E_INVALID);
    assert_int_equal(vial_session_branch(session, 1, &branch, NULL), 0);
    assert_int_equal(eval(branch, "1", 2001), VIAL_E_INVALID);
    assert_int_equal(eval(branch, "1", 0), VIAL_STATUS_OK);
    vial_session_free(branch);
    vial_session_free(session);
    vial_env_free(env);
}

static void memory_and_files_are_those_of_the_session(void **state)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *session = NULL;

    (void)state;
    limits.disk_bytes_max = 65536;
    limits.memory_bytes_max = 32 << 20;
    options.limits = &limits;
    assert_int_equal(vial_session_new(engine, &options, &session, NULL), 0);
    assert_int_equal(eval(session, "const fs = require('fs'); fs.writeFileSync('a', 'a')", 5000),
        VIAL_STATUS_OK);
    assert_int_equal(
        eval(session, "fs.writeFileSync('b', Buffer.alloc(100000))", 5000), VIAL_STATUS_EXCEPTION);
    assert_int_equal(
        eval(session, "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", 5000),
        VIAL_STATUS_MEMORY_LIMIT);
    assert_int_equal(eval(session, "1", 5000), VIAL_E_GONE);
    vial_session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_environment_limits_its_sessions),
        cmocka_unit_test(memory_and_files_are_those_of_the_session),
    };

    return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
