/* policy.c - `vial policy explain`: what an environment allows, and which rule says so. It asks the
 * same functions that hosts and cells ask. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/environment_arg.h"
#include "cli/permission_args.h"
#include "host/catalog.h"
#include "policy/document.h"

static const char *const KNOWN[] = {
    "--net", "--fs", "--tool", "--env", "--json", "--data-dir", "--permissions", "--help", NULL};

struct explain {
    const char *name, *data_dir;
    const char *net, *fs, *tool, *env;
    struct permission_args run; /* what a run would bring along */
    int json;
};

/* One question. */
struct question {
    enum permission_scope scope;
    uint32_t op;
    const char *op_name;
    char subject[PATH_MAX];
};

static void print_help(void)
{
    (void)printf(
        "usage: vial policy explain ENV QUESTION [OPTION]...\n\n"
        "Says whether programs in an environment may do something, and by which rule\n"
        "(docs/permissions.md). ENV is NAME[@VERSION] of a stored environment, or a file with its\n"
        "document, which has a slash or ends in .json.\n\n"
        "  --fs PATH:read|write   use the file of this absolute path\n"
        "  --tool NAME            call this tool\n"
        "  --env NAME             have this variable\n"
        "  --net URL              fetch this address\n"
        "  --permissions JSON     what a run would bring along, or @FILE: it can only tighten\n"
        "  --data-dir DIR         where environments are kept, as for `vial env`\n"
        "  --json                 print the answer as one object\n\n"
        "Exit codes: 0 allowed, 126 denied, 2 usage.\n");
}

static int take_option(struct explain *e, struct cli_args *a)
{
    const struct {
        const char *flag, **value;
    } rows[] = {{"--net", &e->net}, {"--fs", &e->fs}, {"--tool", &e->tool}, {"--env", &e->env},
        {"--data-dir", &e->data_dir}, {"--permissions", &e->run.given}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(a->option, rows[i].flag) == 0) {
            *rows[i].value = cli_args_value(a, "policy explain");
            return *rows[i].value != NULL ? 0 : EXIT_USAGE;
        }
    }
    if (strcmp(a->option, "--json") == 0) {
        e->json = 1;
        return cli_args_plain(a, "policy explain");
    }
    return cli_unknown_option("policy explain", a->option, KNOWN);
}

static int take_word(struct explain *e, const char *word, int *is_command)
{
    if (!*is_command) {
        *is_command = 1;
        return strcmp(word, "explain") == 0
                   ? 0
                   : cli_fail(EXIT_USAGE, "there is no `vial policy %s`; there is `explain`", word);
    }
    if (e->name != NULL) {
        return cli_fail(
            EXIT_USAGE, "one environment at a time: both %s and %s were given", e->name, word);
    }
    e->name = word;
    return 0;
}

/* 0, or an exit code; -1 when only help was asked for. */
static int parse(struct explain *e, int argc, char **argv)
{
    struct cli_args a;
    int is_command = 0, code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            code = take_word(e, a.word, &is_command);
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return -1;
        } else {
            code = take_option(e, &a);
        }
    }
    if (code != 0) {
        return code;
    }
    if (e->name == NULL ||
        (e->net != NULL) + (e->fs != NULL) + (e->tool != NULL) + (e->env != NULL) != 1) {
        return cli_fail(EXIT_USAGE, "give an environment and one of --fs PATH:read, --tool NAME, "
                                    "--env NAME and --net URL");
    }
    return 0;
}

/* ---- the question ---- */

/* The one way to write a path, without "." and ".." and with single slashes; /tmp is where it
 * leads.
 */
static int straighten(const char *path, size_t len, char ret[PATH_MAX])
{
    static const char tmp[] = "/home/vial/.tmp";
    const char *end = path + len;
    size_t used = 0, n;

    for (; path < end; path += n) {
        path += strspn(path, "/");
        n = path < end ? strcspn(path, "/") : 0;
        n = n < (size_t)(end - path) ? n : path < end ? (size_t)(end - path) : 0;
        if (n == 0 || (n == 1 && path[0] == '.')) {
            continue;
        }
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (used > 0 && ret[--used] != '/') {
            }
            continue;
        }
        if (used + 1 + n + sizeof(tmp) >= PATH_MAX) {
            return -1;
        }
        ret[used++] = '/';
        memcpy(ret + used, path, n);
        used += n;
        if (used == 4 && memcmp(ret, "/tmp", 4) == 0) {
            memcpy(ret, tmp, sizeof(tmp) - 1);
            used = sizeof(tmp) - 1;
        }
    }
    ret[used > 0 ? used : 1] = '\0';
    ret[0] = '/';
    return 0;
}

static int ask_fs(const char *text, struct question *q)
{
    const char *colon = strrchr(text, ':');
    int writes = colon != NULL && strcmp(colon, ":write") == 0;

    if (text[0] != '/' || colon == NULL || (!writes && strcmp(colon, ":read") != 0) ||
        straighten(text, (size_t)(colon - text), q->subject) < 0) {
        return cli_fail(EXIT_USAGE,
            "--fs takes an absolute path and what is done with it, such as "
            "/home/vial/data.csv:read, not \"%s\"",
            text);
    }
    q->scope = SCOPE_FS;
    q->op = writes ? RULE_WRITE : RULE_READ;
    q->op_name = writes ? "write" : "read";
    return 0;
}

static int ask(const struct explain *e, struct question *q)
{
    const char *subject = e->net != NULL ? e->net : e->tool != NULL ? e->tool : e->env;

    if (e->fs != NULL) {
        return ask_fs(e->fs, q);
    }
    if (strlen(subject) >= sizeof(q->subject)) {
        return cli_fail(EXIT_USAGE, "that is too long to be something that a rule is about");
    }
    q->scope = e->net != NULL ? SCOPE_NET : e->tool != NULL ? SCOPE_TOOLS : SCOPE_ENV;
    q->op = 1;
    q->op_name = e->net != NULL ? "fetch" : e->tool != NULL ? "call" : "read";
    (void)snprintf(q->subject, sizeof(q->subject), "%s", subject);
    return 0;
}

/* ---- the answer ---- */

/* What is not there cannot be had, whatever the rules say. */
static int is_declared(const struct document *doc, const struct question *q)
{
    size_t len = strlen(q->subject), i;

    for (i = 0; q->scope == SCOPE_TOOLS && i < doc->tools_count; i++) {
        if (strcmp(doc->tools[i].name, q->subject) == 0) {
            return 1;
        }
    }
    for (i = 0; q->scope == SCOPE_ENV && i < doc->env.count; i++) {
        if (strncmp(doc->env.items[i], q->subject, len) == 0 && doc->env.items[i][len] == '=') {
            return 1;
        }
    }
    return q->scope != SCOPE_TOOLS && q->scope != SCOPE_ENV;
}

static int decide(const struct document *doc, const struct permission *run,
    const struct question *q, struct permission_verdict *v)
{
    const struct permission_chain chain = {
        .levels = {[PERMISSION_ENVIRONMENT] = doc->permissions, [PERMISSION_RUN] = run}};

    if (!is_declared(doc, q)) {
        *v = (struct permission_verdict){.allowed = 0};
        (void)snprintf(v->by, sizeof(v->by), "the environment, which declares no such %s",
            q->scope == SCOPE_TOOLS ? "tool" : "variable");
    } else if (q->scope == SCOPE_NET) {
        (void)permission_net_decide(&chain, q->subject, v);
    } else {
        (void)permission_decide(&chain, q->scope, q->op, q->subject, v);
    }
    return v->allowed;
}

static int answer(
    const struct explain *e, const struct question *q, const struct permission_verdict *v)
{
    struct json_writer w;
    struct buf out;
    int code = v->allowed ? EXIT_FINE : EXIT_DENIED;

    if (!e->json) {
        (void)printf("%s: %s %s %s, by %s\n", v->allowed ? "allowed" : "denied",
            permission_scope_name(q->scope), q->op_name, q->subject, v->by);
        return code;
    }
    buf_init(&out, (size_t)8 * PATH_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "allowed");
    json_bool(&w, v->allowed);
    json_key(&w, "scope");
    json_text(&w, permission_scope_name(q->scope));
    json_key(&w, "op");
    json_text(&w, q->op_name);
    json_key(&w, "subject");
    json_text(&w, q->subject);
    json_key(&w, "by");
    json_text(&w, v->by);
    json_end_object(&w);
    if (json_finish(&w) < 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "no memory for the answer");
    } else {
        (void)printf("%s\n", out.data);
    }
    buf_release(&out);
    return code;
}

/* ---- the command ---- */

static int load(struct explain *e, struct document **ret)
{
    size_t name_len = strlen(e->name), len = 0;
    int is_file = strchr(e->name, '/') != NULL ||
                  (name_len > 5 && strcmp(e->name + name_len - 5, ".json") == 0);
    struct store_use *use = NULL;
    struct vial_error err;
    struct buf report;
    char *json = NULL;
    int code = is_file ? cli_read_file(e->name, DOCUMENT_BYTES_MAX, "an environment", &json, &len)
                       : environment_arg_load(e->data_dir, e->name, &json, &len, &use);

    if (code == 0) {
        buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
        if (catalog_parse(json, len, ret, &report, &err) < 0) {
            code = cli_fail(EXIT_DOCUMENT, "%s: %s", e->name, err.text);
        }
        buf_release(&report);
    }
    store_use_free(use);
    free(json);
    return code;
}

int cmd_policy(int argc, char **argv)
{
    struct explain e = {.name = NULL};
    struct permission *run = NULL;
    struct document *doc = NULL;
    struct permission_verdict v;
    static struct question q;
    struct vial_error err;
    int code = parse(&e, argc, argv);

    if (code != 0) {
        return code < 0 ? EXIT_FINE : code;
    }
    code = ask(&e, &q);
    code = code != 0 ? code : permission_args_prepare(&e.run);
    code = code != 0 ? code : load(&e, &doc);
    if (code == 0 && e.run.json != NULL &&
        permission_parse(e.run.json, strlen(e.run.json), &run, &err) < 0) {
        code = cli_fail_library(&err);
    }
    if (code == 0) {
        (void)decide(doc, run, &q, &v);
        code = answer(&e, &q, &v);
    }
    permission_free(run);
    permission_args_release(&e.run);
    document_free(doc);
    return code;
}
