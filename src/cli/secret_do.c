/* secret_do.c - `vial secret set`, `list`, `delete`, `check` and `rotate`. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "cli/secret.h"
#include "cli/secret_source.h"

enum {
    /* Shorter ones would be found all over a response by chance (src/host/redact.h). */
    GOOD_VALUE_BYTES = 8,
    LIST_BYTES_MAX = 1 << 20, /* 1000 secrets with less than 300 bytes each */
};

static int open_store(const struct secret_args *o, struct secret_store **ret)
{
    char directory[ENV_PATH_BYTES_MAX], path[SECRET_PATH_BYTES_MAX];
    struct secret_options options = {.directory = directory};
    struct vial_error err;
    int code = env_data_dir(o->data_dir, directory, sizeof(directory));

    code = code != 0 ? code : secret_source_key(o->key_file, path, &options);
    if (code != 0) {
        return code;
    }
    return secret_open(&options, ret, &err) < 0 ? env_fail(&err) : 0;
}

/* The same for a change: with the audit of the directory. */
static int open_both(
    const struct secret_args *o, struct secret_store **ret, struct audit **ret_audit)
{
    char directory[ENV_PATH_BYTES_MAX];
    int code = open_store(o, ret);

    code = code != 0 ? code : env_data_dir(o->data_dir, directory, sizeof(directory));
    return code != 0 ? code : change_open(directory, ret_audit);
}

/* The change is made; its name goes into the audit, never the value. The exit code. */
static int note(struct audit *audit, const char *what, const char *name)
{
    const struct change change = {.agent = "vial secret", .what = what, .detail = name};

    return change_note_or_say(audit, &change);
}

int secret_do_set(const struct secret_args *o)
{
    struct secret_value value = {.len = 0};
    struct secret_store *store = NULL;
    struct audit *audit = NULL;
    struct secret_info info;
    struct vial_error err;
    int code = open_both(o, &store, &audit);

    code = code != 0 ? code : secret_value_read(o, &value);
    if (code == 0 && secret_set(store, o->words[1], value.bytes, value.len, &info, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        if (value.len < GOOD_VALUE_BYTES) {
            (void)fprintf(stderr,
                "vial: warning: a value of %zu bytes is easily guessed, and found by chance in "
                "what servers answer\n",
                value.len);
        }
        (void)printf("stored %s (version %llu, %llu bytes)\n", info.name,
            (unsigned long long)info.version, (unsigned long long)info.value_bytes);
        code = note(audit, "secret.set", info.name);
    }
    secret_value_release(&value);
    audit_free(audit, NULL);
    secret_free(store);
    return code;
}

static int print_json(const struct secret_info *list, size_t count)
{
    struct json_writer w;
    struct vial_error err;
    struct buf out;
    int r;
    size_t i;

    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, &err);
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        json_begin_object(&w);
        json_key(&w, "name");
        json_text(&w, list[i].name);
        json_key(&w, "version");
        json_u64(&w, list[i].version);
        json_key(&w, "created");
        json_text(&w, env_time(list[i].created_us));
        json_key(&w, "changed");
        json_text(&w, env_time(list[i].changed_us));
        json_key(&w, "bytes");
        json_u64(&w, list[i].value_bytes);
        json_end_object(&w);
    }
    json_end_array(&w);
    r = json_finish(&w);
    if (r == VIAL_OK) {
        (void)printf("%s\n", out.data);
    }
    buf_release(&out);
    return r == VIAL_OK ? EXIT_FINE : env_fail(&err);
}

static void print_table(const struct secret_info *list, size_t count)
{
    size_t width = strlen("NAME"), i;

    for (i = 0; i < count; i++) {
        width = strlen(list[i].name) > width ? strlen(list[i].name) : width;
    }
    (void)printf("%-*s  %7s  %-20s  %-20s  %6s\n", (int)width, "NAME", "VERSION", "CREATED",
        "CHANGED", "BYTES");
    for (i = 0; i < count; i++) {
        (void)printf("%-*s  %7llu  %-20s  ", (int)width, list[i].name,
            (unsigned long long)list[i].version, env_time(list[i].created_us));
        (void)printf("%-20s  %6llu\n", env_time(list[i].changed_us),
            (unsigned long long)list[i].value_bytes);
    }
}

int secret_do_list(const struct secret_args *o)
{
    struct secret_info *list = NULL;
    struct secret_store *store = NULL;
    struct vial_error err;
    size_t count = 0;
    int code = open_store(o, &store);

    if (code == 0 && secret_list(store, &list, &count, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0 && o->json) {
        code = print_json(list, count);
    } else if (code == 0 && count == 0) {
        (void)fprintf(stderr, "There are no secrets; `vial secret set NAME` keeps one.\n");
    } else if (code == 0) {
        print_table(list, count);
    }
    free(list);
    secret_free(store);
    return code;
}

int secret_do_delete(const struct secret_args *o)
{
    struct secret_store *store = NULL;
    struct audit *audit = NULL;
    struct vial_error err;
    int code = open_both(o, &store, &audit);

    if (code == 0 && secret_delete(store, o->words[1], &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        (void)printf("deleted %s\n", o->words[1]);
        code = note(audit, "secret.delete", o->words[1]);
    }
    audit_free(audit, NULL);
    secret_free(store);
    return code;
}

int secret_do_rotate(const struct secret_args *o)
{
    struct secret_store *store = NULL;
    struct audit *audit = NULL;
    struct vial_error err;
    size_t count = 0;
    int code = open_both(o, &store, &audit);

    if (code == 0 && secret_rotate(store, o->new_key_file, &count, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        (void)printf("encrypted %zu secret%s with a new key%s\n", count, count == 1 ? "" : "s",
            o->new_key_file != NULL ? "; from now on it is the one in that file" : "");
        code = note(audit, "secret.rotate", NULL);
    }
    audit_free(audit, NULL);
    secret_free(store);
    return code;
}

struct bad_ones {
    size_t count;
};

static void say_bad(const char *name, void *user)
{
    struct bad_ones *bad = user;

    bad->count++;
    (void)cli_fail(EXIT_REFUSED,
        "the record of %s is damaged, or it is that of another secret; set it anew", name);
}

int secret_do_check(const struct secret_args *o)
{
    struct secret_store *store = NULL;
    struct bad_ones bad = {.count = 0};
    struct vial_error err;
    size_t count = 0;
    int code = open_store(o, &store);

    if (code == 0 && secret_check(store, say_bad, &bad, &count, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        (void)printf(
            "%zu secret%s can be read, %zu cannot\n", count, count == 1 ? "" : "s", bad.count);
        code = bad.count > 0 ? EXIT_REFUSED : EXIT_FINE;
    }
    secret_free(store);
    return code;
}
