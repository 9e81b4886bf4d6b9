/* run_env.c - see run_env.h. */
#include "cli/run_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/approve.h"
#include "cli/environment_arg.h"
#include "policy/document.h"

enum { SET_DEPTH_MAX = 512 };

const char RUN_ENV_HELP[] =
    "Environments and tools (docs/environments.md, docs/tools.md).\n\n"
    "  --in NAME[@VERSION] run in a stored environment; `vial env` keeps them\n"
    "  --data-dir DIR      where they are kept, as for `vial env`\n"
    "  --tools FILE        tools of this run, as a JSON array of what an environment has\n"
    "  --set NAME=JSON     the value of a global that the environment declares; may be repeated\n"
    "  --approve MODE      for calls that need approval: ask (at the terminal), yes or no\n"
    "  --record-calls      --json has the arguments and answers of calls, too\n"
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
    if (strcmp(a->option, "--in") == 0) {
        return take_value(a, &e->name);
    }
    if (strcmp(a->option, "--data-dir") == 0) {
        return take_value(a, &e->data_dir);
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

/* The tools of a file become an environment that has nothing else. */
static int wrap_tools(struct run_env *e)
{
    static const char head[] = "{\"name\":\"run\",\"tools\":";
    char *tools = NULL;
    size_t len = 0;
    int code =
        cli_read_file(e->tools_file, DOCUMENT_BYTES_MAX - sizeof(head) - 1, "tools", &tools, &len);

    if (code != 0) {
        return code;
    }
    e->document = malloc(sizeof(head) + len + 1);
    if (e->document == NULL) {
        free(tools);
        return cli_fail(EXIT_OUR_FAILURE, "no memory for tools");
    }
    memcpy(e->document, head, sizeof(head) - 1);
    memcpy(e->document + sizeof(head) - 1, tools, len);
    e->document[sizeof(head) - 1 + len] = '}';
    e->document_len = sizeof(head) + len;
    free(tools);
    return 0;
}

int run_env_is_wanted(const struct run_env *e)
{
    return e->name != NULL || e->tools_file != NULL;
}

int run_env_prepare(struct run_env *e)
{
    int code = gather_sets(e);

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
    if (e->tools_file != NULL) {
        return wrap_tools(e);
    }
    return e->name != NULL
               ? environment_arg_load(e->data_dir, e->name, &e->document, &e->document_len, &e->use)
               : 0;
}

int run_env_open(struct run_env *e, struct vial_engine *engine, struct vial_request *request)
{
    struct vial_error err;

    request->record_calls = (uint32_t)e->record_calls;
    request->entry_is_main = (uint32_t)e->entry_is_main;
    request->on_approve = approve_call;
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
    store_use_free(e->use);
}
