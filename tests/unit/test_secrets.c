/* test_secrets.c - an engine asks its host for secrets. */
#include "host/secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "host/engine.h"

static struct vial_engine engine;
static struct vial_error err;
static struct buf out;

/* TOKEN has a value, EMPTY has none, LARGE says too much, SILENT fails without a word. */
static int give(const char *name, char *bytes, size_t *ret_len, struct vial_error *e, void *user)
{
    assert_ptr_equal(user, &engine);
    if (strcmp(name, "TOKEN") == 0) {
        memcpy(bytes, "hunter2", 7);
        *ret_len = 7;
        return 0;
    }
    if (strcmp(name, "LARGE") == 0) {
        memset(bytes, 'x', VIAL_SECRET_BYTES_MAX);
        *ret_len = VIAL_SECRET_BYTES_MAX + 1;
        return 0;
    }
    if (strcmp(name, "SILENT") == 0) {
        memcpy(bytes, "half of it", 10);
        return VIAL_E_SYS;
    }
    return strcmp(name, "EMPTY") == 0 ? 0 : vial__fail(e, VIAL_E_INVALID, "no %s here", name);
}

static int make(void **state)
{
    (void)state;
    engine.on_secret = give;
    engine.secret_user = &engine;
    buf_init(&out, (size_t)2 * VIAL_SECRET_BYTES_MAX);
    return 0;
}

static int release(void **state)
{
    (void)state;
    buf_wipe(&out);
    return 0;
}

static void a_value_is_added(void **state)
{
    (void)state;
    assert_int_equal(buf_add_text(&out, "Bearer ", &err), 0);
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &out, &err), 0);
    assert_string_equal(out.data, "Bearer hunter2");
    assert_int_equal(out.len, 14);
}

static void what_the_host_says_is_passed_on(void **state)
{
    (void)state;
    assert_int_equal(secrets_lookup(&engine, "OTHER", &out, &err), VIAL_E_INVALID);
    assert_string_equal(err.text, "no OTHER here");
    assert_int_equal(secrets_lookup(&engine, "SILENT", &out, &err), VIAL_E_SYS);
    assert_string_equal(err.text, "the host gave no secret");
    assert_int_equal(secrets_lookup(&engine, "SILENT", &out, NULL), VIAL_E_SYS);
    assert_int_equal(out.len, 0);
    assert_int_equal(out.data[0], 0); /* the half was overwritten */
    assert_int_equal(out.data[9], 0);
}

static void lengths_are_checked(void **state)
{
    (void)state;
    assert_int_equal(secrets_lookup(&engine, "EMPTY", &out, &err), VIAL_E_INVALID);
    assert_int_equal(secrets_lookup(&engine, "LARGE", &out, &err), VIAL_E_INVALID);
    assert_int_equal(out.len, 0);
    assert_int_equal(out.data[1000], 0);
}

static void names_are_checked_before_the_host_is_asked(void **state)
{
    (void)state;
    engine.on_secret = NULL;
    assert_int_equal(secrets_lookup(&engine, "sk-123", &out, &err), VIAL_E_INVALID);
    assert_null(strstr(err.text, "sk-123"));
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &out, &err), VIAL_E_INVALID);
    assert_string_equal(err.text, "there is no secret TOKEN: the host has given none");
}

static void a_buffer_without_room_is_an_error(void **state)
{
    struct buf small;

    (void)state;
    buf_init(&small, 100);
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &small, &err), VIAL_E_NOMEM);
    buf_wipe(&small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_is_added),
        TEST(what_the_host_says_is_passed_on),
        TEST(lengths_are_checked),
        TEST(names_are_checked_before_the_host_is_asked),
        TEST(a_buffer_without_room_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
