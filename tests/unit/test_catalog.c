/* test_catalog.c - documents with all their checks, on their way into the store and out of it. */
#include "host/catalog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64];
static struct store *store;
static struct vial_error err;
static struct buf report;

static int open_store(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-catalog-XXXXXX");
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    return mkdtemp(directory) != NULL ? store_open(directory, &store, &err) : -1;
}

static int close_store(void **state)
{
    char path[96];

    (void)state;
    store_free(store);
    buf_release(&report);
    (void)snprintf(path, sizeof(path), "%s/store.db", directory);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/in-use", directory);
    (void)unlink(path);
    return rmdir(directory);
}

static void a_good_document_gets_in_and_out(void **state)
{
    static const char json[] = "{\"name\": \"crm\",  \"prefix\": \"1\"}";
    struct store_version made, found;
    struct document *doc = NULL;
    char *text = NULL;

    (void)state;
    assert_int_equal(catalog_create(store, json, strlen(json), &made, &report, &err), 0);
    assert_string_equal(made.name, "crm");
    assert_int_equal(made.version, 1);
    assert_string_equal(report.data, "[]");
    buf_clear(&report);
    assert_int_equal(catalog_update(store, json, strlen(json), &made, &report, &err), 0);
    assert_int_equal(made.version, 2);
    assert_int_equal(catalog_get(store, "crm", 0, &doc, &found, &text, &err), 0);
    assert_string_equal(doc->prefix, "1");
    assert_int_equal(found.version, 2);
    assert_string_equal(text, json); /* byte for byte */
    document_free(doc);
    free(text);
    assert_int_equal(catalog_get(store, "crm", 1, &doc, NULL, NULL, &err), 0);
    document_free(doc);
}

static void a_bad_document_changes_nothing(void **state)
{
    static const char good[] = "{\"name\":\"crm\"}";
    static const char bad[] = "{\"name\":\"crm\",\"modules\":{\"/x.js\":\"\"}}";
    struct store_version made = {.version = 7}, *list = NULL;
    size_t count = 0;

    (void)state;
    assert_int_equal(catalog_create(store, bad, strlen(bad), &made, &report, &err), VIAL_E_INVALID);
    assert_non_null(strstr(report.data, "\"/modules/~1x.js\""));
    assert_non_null(strstr(report.data, "is an absolute path"));
    assert_int_equal(made.version, 7);
    assert_int_equal(store_list(store, &list, &count, &err), 0);
    assert_int_equal(count, 0);
    free(list);
    buf_clear(&report);
    assert_int_equal(catalog_create(store, good, strlen(good), &made, &report, &err), 0);
    buf_clear(&report);
    assert_int_equal(catalog_update(store, bad, strlen(bad), &made, &report, &err), VIAL_E_INVALID);
    assert_int_equal(store_versions(store, "crm", &list, &count, &err), 0);
    assert_int_equal(count, 1);
    free(list);
}

static void what_the_store_refuses_is_no_fault_of_the_document(void **state)
{
    static const char json[] = "{\"name\":\"crm\"}";
    struct store_version made;

    (void)state;
    assert_int_equal(
        catalog_update(store, json, strlen(json), &made, &report, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(report.data, "[]");
}

static void modules_have_the_names_that_runs_allow(void **state)
{
    static const char *const bad[] = {"node:fs", "https://x.test/a.js", "../a.js", "", "a//b"};
    struct document *doc = NULL;
    char json[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(json, sizeof(json), "{\"name\":\"a\",\"modules\":{\"%s\":\"\"}}", bad[i]);
        buf_clear(&report);
        assert_int_equal(catalog_parse(json, strlen(json), &doc, &report, &err), VIAL_E_INVALID);
    }
    (void)snprintf(
        json, sizeof(json), "{\"name\":\"a\",\"modules\":{\"./a\":\"\",\"././a\":\"\"}}");
    buf_clear(&report);
    assert_int_equal(catalog_parse(json, strlen(json), &doc, &report, &err), VIAL_E_INVALID);
    assert_non_null(strstr(report.data, "two modules have the name ./a"));
}

static void a_stored_document_is_checked_again(void **state)
{
    struct document *doc = NULL;
    uint32_t version;

    (void)state;
    assert_int_equal(
        store_create(store, "old", "{\"name\":\"old\",\"gone\":1}", 23, &version, &err), 0);
    assert_int_equal(catalog_get(store, "old", 0, &doc, NULL, NULL, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "the stored environment old@1: /gone: there is no such key"));
    assert_null(doc);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_document_gets_in_and_out),
        TEST(a_bad_document_changes_nothing),
        TEST(what_the_store_refuses_is_no_fault_of_the_document),
        TEST(modules_have_the_names_that_runs_allow),
        TEST(a_stored_document_is_checked_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
