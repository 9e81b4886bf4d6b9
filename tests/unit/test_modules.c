/* test_modules.c - the modules of a request: which are taken, how they travel, how they are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/modules.h"
#include "wire/field.h"

static struct vial_module modules[VIAL_MODULES_MAX + 1];

static struct vial_request request_of(size_t count)
{
    struct vial_request request = VIAL_REQUEST_INIT;

    request.modules = modules;
    request.module_count = count;
    return request;
}

static void assert_refused(size_t count, const char *why)
{
    struct vial_request request = request_of(count);
    struct vial_error err = {0};
    size_t bytes = 0;

    assert_int_equal(modules_check(&request, &bytes, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, why));
}

static void bad_modules_are_refused_with_a_reason(void **state)
{
    char long_name[5001];

    (void)state;
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    modules[0] = (struct vial_module){"./a.js", "", 0};
    modules[1] = (struct vial_module){"././a.js", "", 0};
    assert_refused(2, "two modules have the name ./a.js");
    modules[1] = (struct vial_module){"a/../a.js", "", 0};
    assert_refused(2, "\"a/../a.js\" has .. in it");
    modules[0].name = long_name;
    assert_refused(1, "longer than 1024");
    modules[0].name = "\xff";
    assert_refused(1, "\"\" is not UTF-8");
    modules[0].name = "node:fs";
    assert_refused(1, "built-in");
    modules[0].name = NULL;
    assert_refused(1, "needs a name");
    modules[0] = (struct vial_module){"a", NULL, 0};
    assert_refused(1, "a source");
    modules[0] = (struct vial_module){"a", "x\xff", 2};
    assert_refused(1, "module a is not UTF-8 (at byte 1)");
    modules[0] = (struct vial_module){"a", "", (size_t)65 << 20};
    assert_refused(1, "module a is 68157440 bytes");
    assert_refused(VIAL_MODULES_MAX + 1, "may have up to 1000");
}

static void as_many_as_allowed_are_taken(void **state)
{
    static char names[VIAL_MODULES_MAX][8];
    struct vial_request request = request_of(VIAL_MODULES_MAX);
    size_t bytes = 0;

    (void)state;
    for (size_t i = 0; i < VIAL_MODULES_MAX; i++) {
        names[i][0] = 'm';
        names[i][1] = (char)('0' + i / 100);
        names[i][2] = (char)('0' + i / 10 % 10);
        names[i][3] = (char)('0' + i % 10);
        modules[i] = (struct vial_module){names[i], "xy", 2};
    }
    assert_int_equal(modules_check(&request, &bytes, NULL), 0);
    assert_int_equal(bytes, VIAL_MODULES_MAX * (2 + 4 + 2 * FIELD_HEAD_BYTES));
    request = request_of(0);
    request.modules = NULL;
    assert_int_equal(modules_check(&request, &bytes, NULL), 0);
}

static void they_travel_with_their_full_names(void **state)
{
    struct vial_request request = request_of(2);
    struct buf fields;
    struct field f;
    size_t at = 0;

    (void)state;
    modules[0] = (struct vial_module){"././x/a.js", "one", 3};
    modules[1] = (struct vial_module){"b", "", 0};
    buf_init(&fields, 1000);
    assert_int_equal(modules_add(&request, &fields, NULL), 0);
    assert_int_equal(field_next(fields.data, fields.len, &at, &f), 1);
    assert_int_equal(f.tag, FIELD_MODULE_NAME);
    assert_int_equal(f.len, 8);
    assert_memory_equal(f.bytes, "./x/a.js", 8);
    assert_int_equal(field_next(fields.data, fields.len, &at, &f), 1);
    assert_int_equal(f.tag, FIELD_MODULE_SOURCE);
    assert_memory_equal(f.bytes, "one", 3);
    assert_int_equal(field_next(fields.data, fields.len, &at, &f), 1);
    assert_int_equal(field_next(fields.data, fields.len, &at, &f), 1);
    assert_int_equal(f.len, 0);
    assert_int_equal(field_next(fields.data, fields.len, &at, &f), 0);
    buf_release(&fields);
    buf_init(&fields, 10);
    assert_int_equal(modules_add(&request, &fields, NULL), VIAL_E_NOMEM);
    buf_release(&fields);
}

static void they_are_found_by_their_full_names(void **state)
{
    struct vial_request request = request_of(2);

    (void)state;
    modules[0] = (struct vial_module){"././x/a.js", "one", 3};
    modules[1] = (struct vial_module){"b", "", 0};
    assert_ptr_equal(modules_find(&request, "./x/a.js"), &modules[0]);
    assert_ptr_equal(modules_find(&request, "b"), &modules[1]);
    assert_null(modules_find(&request, "././x/a.js"));
    assert_null(modules_find(&request, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_modules_are_refused_with_a_reason),
        cmocka_unit_test(as_many_as_allowed_are_taken),
        cmocka_unit_test(they_travel_with_their_full_names),
        cmocka_unit_test(they_are_found_by_their_full_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
