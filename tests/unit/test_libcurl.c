/* test_libcurl.c - libcurl is found when it is there, and its absence is a clear sentence. */
#include "host/libcurl.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_library_that_is_not_there_says_what_to_install(void **state)
{
    struct vial_error err = {0};
    struct libcurl lib;

    (void)state;
    assert_int_equal(libcurl_load("libnothing-of-this-name.so.1", &lib, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "libcurl3-gnutls"));
}

static void a_library_that_is_another_is_refused(void **state)
{
    struct vial_error err = {0};
    struct libcurl lib;

    (void)state;
    assert_int_equal(libcurl_load("libc.so.6", &lib, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "is no libcurl"));
}

static void *get(void *user)
{
    const struct libcurl **ret = user;

    return libcurl_get(ret, NULL) == 0 ? NULL : user;
}

static void many_threads_get_the_same_library(void **state)
{
    const struct libcurl *libs[8] = {NULL};
    pthread_t threads[8];
    void *failed = NULL;
    unsigned i;

    (void)state;
    for (i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get, &libs[i]), 0);
    }
    for (i = 0; i < 8; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
        assert_ptr_equal(libs[i], libs[0]);
    }
    assert_non_null(libs[0]->version_info(CURLVERSION_NOW)->version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_not_there_says_what_to_install),
        cmocka_unit_test(a_library_that_is_another_is_refused),
        cmocka_unit_test(many_threads_get_the_same_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
