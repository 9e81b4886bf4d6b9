/* test_secret_source.c - the store behind an engine: opened when it is first needed, with the key
 * that the environment names. */
#include "cli/secret_source.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/env.h"
#include "host/engine.h"
#include "host/secrets.h"

static char directory[64], data[80];
static struct vial_error err;
static struct vial_engine engine;
static struct secret_source source;

/* That of the program is with the commands of `vial env`. */
int env_data_dir(const char *given, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s", given);
    return 0;
}

static int make(void **state)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;

    (void)state;
    (void)unsetenv("VIAL_SECRET_KEY_FILE");
    (void)unsetenv("CREDENTIALS_DIRECTORY");
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-source-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    (void)snprintf(data, sizeof(data), "%s/data", directory);
    source = (struct secret_source){.data_dir = data};
    secret_source_offer(&source, &options);
    engine.on_secret = options.on_secret;
    engine.secret_user = options.secret_user;
    return 0;
}

static int clear(void **state)
{
    static const char *const names[] = {"data/store.db", "data/store.db-wal", "data/store.db-shm",
        "data/in-use", "data/secret.key", "vial.key"};
    char path[128];
    size_t i;

    (void)state;
    secret_source_close(&source);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(data);
    return rmdir(directory);
}

static void set(const char *name, const char *value)
{
    const struct secret_options options = {.directory = data};
    struct secret_store *store = NULL;

    assert_int_equal(secret_open(&options, &store, &err), 0);
    assert_int_equal(secret_set(store, name, value, strlen(value), NULL, &err), 0);
    secret_free(store);
}

static void an_engine_gets_what_the_store_has(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, (size_t)2 * VIAL_SECRET_BYTES_MAX);
    assert_int_equal(access(data, F_OK), -1); /* nothing was opened yet */
    set("TOKEN", "hunter2");
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &out, &err), 0);
    assert_string_equal(out.data, "hunter2");
    set("TOKEN", "hunter3"); /* a new value is seen at once */
    buf_clear(&out);
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &out, &err), 0);
    assert_string_equal(out.data, "hunter3");
    assert_int_equal(secrets_lookup(&engine, "OTHER", &out, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "there is no secret OTHER");
    buf_wipe(&out);
}

static void a_key_that_is_missing_is_said_to_be(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, (size_t)2 * VIAL_SECRET_BYTES_MAX);
    set("TOKEN", "hunter2");
    (void)setenv("VIAL_SECRET_KEY_FILE", "/nonexistent/key", 1);
    assert_int_equal(secrets_lookup(&engine, "TOKEN", &out, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "/nonexistent/key is missing"));
    assert_int_equal(out.len, 0);
    buf_wipe(&out);
}

static void the_key_comes_from_the_first_place_that_has_one(void **state)
{
    struct secret_options options = {.directory = data};
    char path[SECRET_PATH_BYTES_MAX], file[96];
    FILE *made;

    (void)state;
    assert_int_equal(secret_source_key(NULL, path, &options), 0);
    assert_null(options.key_file);
    assert_null(options.credential);
    (void)setenv("CREDENTIALS_DIRECTORY", directory, 1); /* which has none for us */
    assert_int_equal(secret_source_key(NULL, path, &options), 0);
    assert_null(options.credential);
    (void)snprintf(file, sizeof(file), "%s/vial.key", directory);
    made = fopen(file, "w");
    assert_non_null(made);
    (void)fclose(made);
    assert_int_equal(secret_source_key(NULL, path, &options), 0);
    assert_string_equal(options.credential, file);
    (void)setenv("VIAL_SECRET_KEY_FILE", "", 1);
    assert_int_equal(secret_source_key(NULL, path, &options), 0);
    assert_string_equal(options.credential, file);
    (void)setenv("VIAL_SECRET_KEY_FILE", "/set", 1);
    assert_int_equal(secret_source_key(NULL, path, &options), 0);
    assert_string_equal(options.key_file, "/set");
    assert_null(options.credential);
    assert_int_equal(secret_source_key("/given", path, &options), 0);
    assert_string_equal(options.key_file, "/given");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_engine_gets_what_the_store_has),
        TEST(a_key_that_is_missing_is_said_to_be),
        TEST(the_key_comes_from_the_first_place_that_has_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
