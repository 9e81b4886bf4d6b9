/* env_store.c - the commands of `vial env` that change the store or list what is in it. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "host/catalog.h"
#include "policy/document_name.h"

enum {
    /* A hundred thousand names with a line of 200 bytes each. */
    LIST_BYTES_MAX = 32 << 20,
};

extern const char ENVIRONMENT_SCHEMA[]; /* share/environment.schema.json, put in by the build */

/* ---- where ---- */

/* The home of the user who runs this, or NULL. */
static const char *home(void)
{
    const char *given = getenv("HOME");
    const struct passwd *entry;

    if (given != NULL && given[0] == '/') {
        return given;
    }
    entry = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): there is one thread */
    return entry != NULL && entry->pw_dir[0] == '/' ? entry->pw_dir : NULL;
}

int env_data_dir(const char *given, char *ret, size_t size)
{
    const char *set = getenv("VIAL_DATA_DIR");
    const char *xdg = getenv("XDG_DATA_HOME");
    const char *directory = home();
    int n;

    if (given != NULL) {
        n = snprintf(ret, size, "%s", given);
    } else if (set != NULL && set[0] != '\0') {
        n = snprintf(ret, size, "%s", set);
    } else if (geteuid() == 0) {
        n = snprintf(ret, size, "/var/lib/vial");
    } else if (xdg != NULL && xdg[0] == '/') { /* a relative one is to be ignored, XDG says */
        n = snprintf(ret, size, "%s/vial", xdg);
    } else if (directory != NULL) {
        n = snprintf(ret, size, "%s/.local/share/vial", directory);
    } else {
        return cli_fail(EXIT_USAGE, "there is no home directory to keep environments in; give "
                                    "--data-dir DIR or set VIAL_DATA_DIR");
    }
    return n > 0 && (size_t)n < size
               ? 0
               : cli_fail(EXIT_USAGE, "the data directory must have 1 to %zu bytes", size - 1);
}

int env_fail(const struct vial_error *err)
{
    if (err->code == VIAL_E_BUSY || err->sys == ENOENT || err->sys == EEXIST) {
        return cli_fail(err->code == VIAL_E_SYS ? EXIT_OUR_FAILURE : EXIT_REFUSED, "%s", err->text);
    }
    return cli_fail_library(err);
}

/* The same for a change: with the audit of the directory. */
static int open_both(const struct env_options *o, struct store **ret, struct audit **ret_audit)
{
    char directory[ENV_PATH_BYTES_MAX];
    int code = env_open(o, ret);

    code = code != 0 ? code : env_data_dir(o->data_dir, directory, sizeof(directory));
    return code != 0 ? code : change_open(directory, ret_audit);
}

int env_open(const struct env_options *o, struct store **ret)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct vial_error err;
    int code = env_data_dir(o->data_dir, directory, sizeof(directory));

    if (code != 0) {
        return code;
    }
    return store_open(directory, ret, &err) < 0 ? env_fail(&err) : 0;
}

/* ---- create, update ---- */

/* The change is made; it goes into the audit. The exit code. */
static int note(struct audit *audit, const char *what, const char *environment)
{
    const struct change change = {.agent = "vial env", .what = what, .environment = environment};

    return change_note_or_say(audit, &change);
}

static int put(const struct env_options *o, const char *what,
    int (*put_document)(struct store *store, const char *json, size_t len,
        struct store_version *ret, struct buf *report, struct vial_error *err))
{
    const char *file = o->words[1];
    struct store *store = NULL;
    struct store_version made;
    struct vial_error err;
    struct buf report;
    struct audit *audit = NULL;
    char ref[DOCUMENT_NAME_BYTES_MAX + 16];
    char *json = NULL;
    size_t len = 0;
    int code =
        cli_read_file(file, DOCUMENT_BYTES_MAX, "the document of an environment", &json, &len);

    code = code != 0 ? code : open_both(o, &store, &audit);
    if (code != 0) {
        store_free(store);
        free(json);
        return code;
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (put_document(store, json, len, &made, &report, &err) == VIAL_OK) {
        (void)snprintf(ref, sizeof(ref), "%s@%u", made.name, made.version);
        (void)printf("%s\n", ref);
        code = note(audit, what, ref);
    } else if (err.code == VIAL_E_INVALID && report.len > strlen("[]")) {
        code = env_say_faults(strcmp(file, "-") == 0 ? "what came from stdin" : file, &report);
    } else {
        code = env_fail(&err);
    }
    buf_release(&report);
    audit_free(audit, NULL);
    store_free(store);
    free(json);
    return code;
}

int env_create(const struct env_options *o)
{
    return put(o, "environment.create", catalog_create);
}

int env_update(const struct env_options *o)
{
    return put(o, "environment.update", catalog_update);
}

/* ---- list, versions ---- */

const char *env_time(uint64_t us)
{
    static char text[32];
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        return "?";
    }
    return text;
}

static int print_json(const struct store_version *list, size_t count)
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
        json_key(&w, "versions");
        json_u64(&w, list[i].versions_count);
        json_key(&w, "created");
        json_text(&w, env_time(list[i].created_us));
        json_key(&w, "bytes");
        json_u64(&w, list[i].document_bytes);
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

/* A table with columns as wide as they need to be. */
static void print_table(const struct store_version *list, size_t count)
{
    size_t width = strlen("NAME"), i;

    for (i = 0; i < count; i++) {
        width = strlen(list[i].name) > width ? strlen(list[i].name) : width;
    }
    (void)printf("%-*s  %7s  %8s  %-20s  %10s\n", (int)width, "NAME", "VERSION", "VERSIONS",
        "CREATED", "BYTES");
    for (i = 0; i < count; i++) {
        (void)printf("%-*s  %7u  %8u  %-20s  %10llu\n", (int)width, list[i].name, list[i].version,
            list[i].versions_count, env_time(list[i].created_us),
            (unsigned long long)list[i].document_bytes);
    }
}

static int print_list(const struct env_options *o, const struct store_version *list, size_t count)
{
    if (o->json) {
        return print_json(list, count);
    }
    if (count == 0) {
        (void)fprintf(stderr, "There are no environments; `vial env create FILE` makes one.\n");
    } else {
        print_table(list, count);
    }
    (void)fprintf(
        stderr, "vial brings the environment data along, unless one of that name is stored.\n");
    return EXIT_FINE;
}

int env_list(const struct env_options *o)
{
    struct store_version *list = NULL;
    struct store *store = NULL;
    struct vial_error err;
    size_t count = 0;
    int code = env_open(o, &store);

    if (code != 0) {
        return code;
    }
    code = store_list(store, &list, &count, &err) < 0 ? env_fail(&err) : print_list(o, list, count);
    free(list);
    store_free(store);
    return code;
}

/* The name and the version that word number one is. 0, or an exit code. */
static int parse_ref(
    const struct env_options *o, char name[DOCUMENT_NAME_BYTES_MAX + 1], uint32_t *version)
{
    struct vial_error err;

    return environment_ref_parse(o->words[1], name, version, &err) < 0
               ? cli_fail(EXIT_USAGE, "%s", err.text)
               : 0;
}

int env_versions(const struct env_options *o)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    struct store_version *list = NULL;
    struct store *store = NULL;
    struct vial_error err;
    uint32_t version = 0;
    size_t count = 0;
    int code = parse_ref(o, name, &version);

    if (code == 0 && version != 0) {
        code = cli_fail(EXIT_USAGE, "vial env versions takes a name without a version");
    }
    code = code != 0 ? code : env_open(o, &store);
    if (code != 0) {
        return code;
    }
    code = store_versions(store, name, &list, &count, &err) < 0 ? env_fail(&err)
                                                                : print_list(o, list, count);
    free(list);
    store_free(store);
    return code;
}

/* ---- show, delete, schema ---- */

int env_load(const struct env_options *o, struct document **ret, struct store_version *ret_version,
    char **ret_json)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    struct store *store = NULL;
    struct document *doc = NULL;
    struct vial_error err;
    uint32_t version = 0;
    int code = parse_ref(o, name, &version);
    int r;

    code = code != 0 ? code : env_open(o, &store);
    if (code != 0) {
        return code;
    }
    /* The text alone is given as it is, also when an older vial had other rules. */
    r = ret != NULL ? catalog_get(store, name, version, &doc, ret_version, ret_json, &err)
                    : store_get(store, name, version, ret_version, ret_json, &err);
    if (r < 0) {
        code = r == VIAL_E_INVALID && err.sys == 0 ? cli_fail(EXIT_DOCUMENT, "%s", err.text)
                                                   : env_fail(&err);
    } else if (ret != NULL) {
        *ret = doc;
    }
    store_free(store);
    return code;
}

int env_show(const struct env_options *o)
{
    struct store_version version;
    struct document *doc = NULL;
    char *json = NULL;
    int code = env_load(o, o->json ? NULL : &doc, &version, &json);

    if (code != 0) {
        return code;
    }
    if (o->json) {
        (void)fwrite(json, 1, version.document_bytes, stdout);
        if (version.document_bytes == 0 || json[version.document_bytes - 1] != '\n') {
            (void)putchar('\n');
        }
    } else {
        env_print(doc, &version);
    }
    document_free(doc);
    free(json);
    return EXIT_FINE;
}

int env_delete(const struct env_options *o)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    struct store *store = NULL;
    struct audit *audit = NULL;
    struct vial_error err;
    uint32_t version = 0;
    int code = parse_ref(o, name, &version);

    code = code != 0 ? code : open_both(o, &store, &audit);
    if (code != 0) {
        store_free(store);
        return code;
    }
    if (store_delete(store, name, version, o->force, &err) < 0) {
        code = env_fail(&err);
    } else {
        (void)printf("deleted %s\n", o->words[1]);
        code = note(audit, "environment.delete", o->words[1]);
    }
    audit_free(audit, NULL);
    store_free(store);
    return code;
}

int env_schema(const struct env_options *o)
{
    (void)o;
    (void)fputs(ENVIRONMENT_SCHEMA, stdout);
    return EXIT_FINE;
}
