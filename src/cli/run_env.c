/* run_env.c - see run_env.h. */
#include "cli/run_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/approve.h"
#include "cli/environment_arg.h"
#include "host/catalog.h"
#include "policy/document.h"

enum { SET_DEPTH_MAX = 512 };

const char RUN_ENV_HELP[] =
    "The scanner (docs/scanner.md). It advises; the wall protects.\n\n"
    "  --scan warn|block   look at the program first: tell what is found, or refuse it as well\n"
    "  --rules FILE        rules beside ours; may be repeated\n\n"
    "Environments and tools (docs/environments.md, docs/tools.md).\n\n"
    "  --in NAME[@VERSION] run in a stored environment; `vial env` keeps them\n"
    "  --data-dir DIR      where they are kept, as for `vial env`\n"
    "  --tools FILE        tools of this run, as a JSON array of what an environment has\n"
    "  --set NAME=JSON     the value of a global that the environment declares; may be repeated\n"
    "  --approve MODE      for calls that need approval: ask (at the terminal), yes or no\n"
    "  --record-calls      --json has the arguments and answers of calls, too\n"
    "  --permissions JSON  what the program may do, or @FILE (docs/permissions.md); in an "
    "environment\n"
    "                      it can only tighten\n"
    "  --clock TIME        the time stands at this one, such as 2026-01-01T00:00:00Z\n"
    "  --seed NUMBER       random numbers are the same in each run with this one\n"
    "  --record FILE       keep all of the run, for `vial replay FILE`; unless they are set the "
    "clock\n"
    "                      stands at the present time and random numbers are seeded\n"
    "  --main              the value is what the program's function main() returns\n\n";

static int take_value(struct cli_args *a, const char **ret)
{
    *ret = cli_args_value(a, "run");
    return *ret != NULL ? 0 : EXIT_USAGE;
}

static int take_flag(struct cli_args *a, int *ret)
{
    *ret = 1;
    return cli_args_plain(a, "run");
}

static int take_approve(struct cli_args *a)
{
    const char *value = cli_args_value(a, "run");
    int mode = value != NULL ? approve_mode_of(value) : -1;

    if (mode < 0) {
        return value == NULL
                   ? EXIT_USAGE
                   : cli_fail(EXIT_USAGE, "--approve takes ask, yes or no, not \"%s\"", value);
    }
    approve_set_mode((enum approve_mode)mode);
    return 0;
}

static int take_set(struct run_env *e, struct cli_args *a)
{
    if (e->sets_count == RUN_ENV_SETS_MAX) {
        return cli_fail(EXIT_USAGE, "--set may be given up to %d times", RUN_ENV_SETS_MAX);
    }
    return take_value(a, &e->sets[e->sets_count++]);
}

int run_env_take(struct run_env *e, struct cli_args *a)
{
    int r;

    if (strcmp(a->option, "--in") == 0) {
        return take_value(a, &e->name);
    }
    if (strcmp(a->option, "--data-dir") == 0) {
        return take_value(a, &e->data_dir);
    }
    r = permission_args_take(&e->permissions, a);
    if (r != 1) {
        return r;
    }
    if (strcmp(a->option, "--tools") == 0) {
        return take_value(a, &e->tools_file);
    }
    if (strcmp(a->option, "--set") == 0) {
        return take_set(e, a);
    }
    if (strcmp(a->option, "--approve") == 0) {
        return take_approve(a);
    }
    if (strcmp(a->option, "--record") == 0) {
        return take_value(a, &e->record);
    }
    if (strcmp(a->option, "--record-calls") == 0) {
        return take_flag(a, &e->record_calls);
    }
    return strcmp(a->option, "--main") == 0 ? take_flag(a, &e->entry_is_main) : 1;
}

/* The values of --set as one JSON object. */
static int gather_sets(struct run_env *e)
{
    struct json_fault fault;
    size_t i;

    buf_init(&e->globals, DOCUMENT_BYTES_MAX);
    for (i = 0; i < e->sets_count; i++) {
        const char *equals = strchr(e->sets[i], '=');
        struct json_writer w;
        struct buf name;
        int r;

        if (equals == NULL ||
            json_check(equals + 1, strlen(equals + 1), SET_DEPTH_MAX, &fault) < 0) {
            return cli_fail(EXIT_USAGE, "--set takes NAME=JSON, not \"%s\"", e->sets[i]);
        }
        buf_init(&name, DOCUMENT_BYTES_MAX);
        json_init(&w, &name, NULL);
        json_write_string(&w, e->sets[i], (size_t)(equals - e->sets[i]));
        r = json_finish(&w) < 0 || buf_add_text(&e->globals, i == 0 ? "{" : ",", NULL) < 0 ||
            buf_add(&e->globals, name.data, name.len, NULL) < 0 ||
            buf_add_text(&e->globals, ":", NULL) < 0 ||
            buf_add_text(&e->globals, equals + 1, NULL) < 0;
        buf_release(&name);
        if (r) {
            return cli_fail(EXIT_USAGE, "the values of --set are too long");
        }
    }
    return e->sets_count > 0 && buf_add_text(&e->globals, "}", NULL) < 0
               ? cli_fail(EXIT_OUR_FAILURE, "no memory for the values of --set")
               : 0;
}

/* The tools of a file become an environment that has nothing else, but for what its one run may do.
 */
static int wrap_tools(struct run_env *e)
{
    const char *allowed = e->permissions.json != NULL ? e->permissions.json : "{}";
    char *tools = NULL;
    struct buf out;
    size_t len = 0;
    int code = cli_read_file(e->tools_file, DOCUMENT_BYTES_MAX / 2, "tools", &tools, &len);

    if (code != 0) {
        return code;
    }
    buf_init(&out, DOCUMENT_BYTES_MAX);
    if (buf_add_text(&out, "{\"name\":\"run\",\"permissions\":", NULL) < 0 ||
        buf_add_text(&out, allowed, NULL) < 0 ||
        buf_add_text(&out, e->for_python ? ",\"language\":\"python\"" : "", NULL) < 0 ||
        buf_add_text(&out, ",\"tools\":", NULL) < 0 || buf_add(&out, tools, len, NULL) < 0 ||
        buf_add_text(&out, "}", NULL) < 0 ||
        buf_take(&out, &e->document, &e->document_len, NULL) < 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "no memory for tools");
    }
    buf_release(&out);
    free(tools);
    return code;
}

int run_env_is_wanted(const struct run_env *e)
{
    return e->name != NULL || e->tools_file != NULL;
}

/* Sets what a repetition needs, unless the environment has. */
static int settle_record(struct run_env *e)
{
    struct document *doc = NULL;
    struct buf report;
    int code;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (e->document != NULL) {
        (void)!catalog_parse(e->document, e->document_len, &doc, &report, NULL);
    }
    code = permission_args_settle(&e->permissions, doc != NULL ? doc->permissions : NULL);
    document_free(doc);
    buf_release(&report);
    return code;
}

int run_env_is_python(const struct run_env *e)
{
    struct document *doc = NULL;
    struct buf report;
    int is_python;

    if (e->document == NULL) {
        return 0;
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    is_python = catalog_parse(e->document, e->document_len, &doc, &report, NULL) == VIAL_OK &&
                doc->language == VIAL_LANGUAGE_PYTHON;
    document_free(doc);
    buf_release(&report);
    return is_python;
}

int run_env_prepare(struct run_env *e)
{
    int code = gather_sets(e);

    code = code != 0 ? code : permission_args_prepare(&e->permissions);
    if (code != 0) {
        return code;
    }
    if (e->name != NULL && e->tools_file != NULL) {
        return cli_fail(
            EXIT_USAGE, "--tools are for runs without --in; an environment has its own");
    }
    if (e->sets_count > 0 && e->name == NULL) {
        return cli_fail(EXIT_USAGE, "--set says nothing without --in");
    }
    if (e->name != NULL) {
        code = environment_arg_load(e->data_dir, e->name, &e->document, &e->document_len, &e->use);
    }
    if (code == 0 && e->record != NULL) {
        code = settle_record(e);
    }
    return code == 0 && e->tools_file != NULL ? wrap_tools(e) : code;
}

int run_env_open(struct run_env *e, struct vial_engine *engine, struct vial_request *request)
{
    struct vial_error err;

    request->record_calls = e->record_calls != 0 || e->record != NULL;
    request->entry_is_main = (uint32_t)e->entry_is_main;
    request->on_approve = approve_call;
    if (e->permissions.json != NULL && e->tools_file == NULL) { /* else they are in the document */
        request->permissions = e->permissions.json;
        request->permissions_len = strlen(e->permissions.json);
    }
    if (!run_env_is_wanted(e)) {
        return 0;
    }
    if (vial_env_new(engine, e->document, e->document_len, NULL, 0, &e->env, &err) < 0) {
        return cli_fail_library(&err);
    }
    request->environment = e->env;
    if (e->globals.len > 0) {
        request->globals = e->globals.data;
        request->globals_len = e->globals.len;
    }
    return 0;
}

void run_env_close(struct run_env *e)
{
    vial_env_free(e->env);
    e->env = NULL;
}

void run_env_release(struct run_env *e)
{
    buf_release(&e->globals);
    free(e->document);
    permission_args_release(&e->permissions);
    store_use_free(e->use);
    secret_source_close(&e->secrets);
}

void run_env_offer_secrets(struct run_env *e, struct vial_engine_options *options)
{
    e->secrets.data_dir = e->data_dir;
    secret_source_offer(&e->secrets, options);
}
