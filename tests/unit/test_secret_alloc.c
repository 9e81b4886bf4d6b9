/* test_secret_alloc.c - fails the n-th allocation of the store of secrets and of redaction, for
 * every n, until everything goes well again.
 *
 * The linker sends the calls of malloc and its kin through the functions here, and SQLite is told
 * to ask them as well; it can do without some of what it asks for. Whatever fails must say that
 * there is no memory, and leave everything as it was; the build with sanitizers sees what is left.
 */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/redact.h"
#include "store/secret.h"

enum { SWEEP_MAX = 3000 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int left = -1; /* allocations that still succeed; below 0 all do */
static int refused, refused_sqlite;
static sqlite3_mem_methods sqlite_memory;
static char directory[64];
static struct secret_store *store;

static int refuse(void)
{
    if (left < 0 || left-- != 0) {
        return 0;
    }
    refused = 1;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

static void *sqlite_malloc(int size)
{
    if (refuse()) {
        refused_sqlite = 1;
        return NULL;
    }
    return sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size)
{
    if (refuse()) {
        refused_sqlite = 1;
        return NULL;
    }
    return sqlite_memory.xRealloc(old, size);
}

/* Does the step once without trouble and then with each of its allocations failing. */
static void sweep(int (*step)(struct vial_error *err))
{
    struct vial_error err = {.code = 0};
    int n, r;

    if (step(&err) < 0) {
        fail_msg("%s", err.text);
    }
    for (n = 0; n < SWEEP_MAX; n++) {
        err = (struct vial_error){.code = 0};
        refused = refused_sqlite = 0;
        left = n;
        r = step(&err);
        left = -1;
        if (!refused) {
            assert_true(r >= 0);
            break;
        }
        if (r != VIAL_E_NOMEM && !(refused_sqlite && r >= 0)) {
            fail_msg("allocation %d: %d, %s", n, r, err.text);
        }
    }
    assert_true(n > 0 && n < SWEEP_MAX);
}

static int open_step(struct vial_error *err)
{
    const struct secret_options options = {.directory = directory};
    struct secret_store *other = NULL;
    int r = secret_open(&options, &other, err);

    secret_free(other);
    return r;
}

static int set_step(struct vial_error *err)
{
    return secret_set(store, "A", "hunter2", 7, NULL, err);
}

static int get_step(struct vial_error *err)
{
    struct secret_value value = {.len = 0};
    int r = secret_get(store, "A", &value, err);

    if (r == VIAL_OK) {
        assert_string_equal(value.bytes, "hunter2");
    }
    secret_value_release(&value);
    return r;
}

static int list_step(struct vial_error *err)
{
    struct secret_info *list = NULL;
    size_t count = 0;
    int r = secret_list(store, &list, &count, err);

    free(list);
    return r;
}

static void no_bad_one(const char *name, void *user)
{
    (void)user;
    fail_msg("%s is said to be damaged", name);
}

static int check_step(struct vial_error *err)
{
    size_t count = 0;

    return secret_check(store, no_bad_one, NULL, &count, err);
}

static int rotate_step(struct vial_error *err)
{
    size_t count = 0;

    return secret_rotate(store, NULL, &count, err);
}

static int redact_step_all(struct vial_error *err)
{
    static char text[40000];
    const struct redact_secret secret = {"A", "hunter2", 7};
    struct redact *own = NULL;
    struct buf out;
    int r = redact_new(&secret, 1, &own, err);

    memset(text, 'h', sizeof(text));
    memcpy(text + 20000, "hunter2", 7);
    buf_init(&out, sizeof(text) + 100);
    r = r < 0 ? r : redact_text(own, text, sizeof(text), &out, err);
    if (out.len > 0) {
        assert_null(memmem(out.data, out.len, "hunter2", 7));
    }
    buf_release(&out);
    redact_free(own);
    return r;
}

static int make_store(void **state)
{
    const struct secret_options options = {.directory = directory};
    struct vial_error err;

    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-secret-XXXXXX");
    return mkdtemp(directory) != NULL && secret_open(&options, &store, &err) == 0 &&
                   set_step(&err) == 0
               ? 0
               : -1;
}

static int remove_store(void **state)
{
    static const char *const names[] = {
        "store.db", "store.db-wal", "store.db-shm", "in-use", "secret.key", "secret.key.new"};
    char path[128];
    size_t i;

    (void)state;
    secret_free(store);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    return rmdir(directory);
}

static void no_memory_is_an_error_and_no_damage(void **state)
{
    struct vial_error err;

    (void)state;
    sweep(open_step);
    sweep(set_step);
    sweep(get_step);
    sweep(list_step);
    sweep(check_step);
    sweep(rotate_step);
    if (check_step(&err) < 0 || get_step(&err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void no_memory_lets_no_secret_through(void **state)
{
    (void)state;
    sweep(redact_step_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            no_memory_is_an_error_and_no_damage, make_store, remove_store),
        cmocka_unit_test(no_memory_lets_no_secret_through),
    };
    sqlite3_mem_methods ours;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory) != SQLITE_OK) {
        return 1;
    }
    ours = sqlite_memory;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
