/* replay.c - `vial replay`: repeats a run that was recorded, with the answers that its tools gave
 * then, and says where it first differs.
 *
 * The tools of the environment become functions of ours. Each call gets the answer of the first
 * recorded call of that name and with those arguments that has not been repeated, and answers come
 * in the order in which they came then: a program that races its calls sees the same winner. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/recording_arg.h"
#include "cli/replay.h"
#include "host/recording.h"

enum { SHOWN_BYTES = 200 };

static const char HELP[] =
    "usage: vial replay FILE | RUN [--net] [--data-dir DIR]\n\n"
    "Repeats a run that was recorded, with the answers that its tools gave then, and says where "
    "it\nfirst differs: in its calls, its output or its value (docs/permissions.md).\n\n"
    "  FILE            what `vial run --record FILE` has written, or a server gave at\n"
    "                  /v1/runs/RUN/recording; - is standard input\n"
    "  RUN             the id of a run that `vial serve` has stored, such as run_0...; its "
    "request\n"
    "                  had \"record\": true. What has a slash in it, or is the name of a file that "
    "is\n"
    "                  there, is a FILE: write ./run_0... to be sure\n"
    "  --net           the rules of its environment let it make its requests to the network "
    "again,\n"
    "                  truly; without it there is no network\n"
    "  --data-dir DIR  where the server keeps its runs, as for `vial env`\n\n"
    "Exit codes: 0 the same, 1 it differs, or there is no such run or recording, 2 usage, or the\n"
    "recording is damaged, 125 the store cannot be read.\n";

/* ---- the answers of then ---- */

/* Only calls of tools have arguments: a request to the network, which is in the list as well, does
 * not come by here. */
static int reached_its_tool(const struct past *p)
{
    return p->input != NULL && (strcmp(p->status, "ok") == 0 || strcmp(p->status, "failed") == 0 ||
                                   strcmp(p->status, "timeout") == 0);
}

/* Is there something to answer it with? What was refused then by somebody who was asked, or had a
 * wrong answer, is refused by us now; what the engine itself refuses never reaches us. */
static int has_answer(const struct past *p)
{
    return reached_its_tool(p) || (p->id != 0 && strcmp(p->status, "cancelled") != 0 &&
                                      json_object_get(p->call, "error") != NULL);
}

static void answer(struct vial_engine *engine, struct past *p)
{
    const json_t *error = json_object_get(p->call, "error");
    const json_t *output = json_object_get(p->call, "output");
    const char *name = json_string_value(json_object_get(error, "name"));
    const char *message = json_string_value(json_object_get(error, "message"));
    json_t *fields = json_object_get(error, "fields");
    struct vial_error ignored;
    char *text;

    p->is_answered = 1;
    if (error != NULL) {
        text = fields != NULL ? json_dumps(fields, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        (void)!vial_call_fail(engine, p->id, name != NULL ? name : "Error",
            message != NULL ? message : "the call failed", text, &ignored);
    } else {
        text = output != NULL ? json_dumps(output, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        (void)!vial_call_answer(engine, p->id, text, text != NULL ? strlen(text) : 0, &ignored);
    }
    free(text);
}

/* Must another call be answered before this one? */
static int must_wait(const struct replay *r, const struct past *p)
{
    size_t i;

    for (i = 0; i < r->count && !r->has_strayed; i++) {
        const struct past *other = &r->pasts[i];

        if (other != p && !other->is_answered && has_answer(other) &&
            (other->ended_us < p->ended_us || (other->ended_us == p->ended_us && other < p))) {
            return 1;
        }
    }
    return 0;
}

static void answer_due(struct replay *r, struct vial_engine *engine)
{
    size_t i;
    int again = 1;

    while (again) {
        again = 0;
        for (i = 0; i < r->count; i++) {
            struct past *p = &r->pasts[i];

            if (p->id != 0 && !p->is_answered && has_answer(p) && !must_wait(r, p)) {
                answer(engine, p);
                again = 1;
            }
        }
    }
}

static struct past *find_past(struct replay *r, const char *name, const json_t *input)
{
    size_t i;

    for (i = 0; i < r->count; i++) {
        struct past *p = &r->pasts[i];

        if (p->id == 0 && strcmp(p->name, name) == 0 &&
            (input == NULL || (p->input != NULL && json_equal(p->input, input)))) {
            return p;
        }
    }
    return NULL;
}

/* In the thread that waits for the run, like all calls of these tools. */
static void repeat(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct replay *r = user;
    json_t *input = replay_value(r, call->args, call->args_len);
    struct past *p = input != NULL ? find_past(r, call->name, input) : NULL;
    struct vial_error ignored;

    json_decref(input);
    if (p == NULL) {
        r->has_strayed = 1;
        p = find_past(r, call->name, NULL);
    }
    if (p != NULL) {
        p->id = call->id;
    } else {
        (void)!vial_call_fail(engine, call->id, "ReplayError",
            "this call was not made when the run was recorded", NULL, &ignored);
    }
    answer_due(r, engine);
}

/* ---- comparing ---- */

static char *shown(const json_t *value)
{
    char *text =
        value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("nothing");

    if (text != NULL && strlen(text) > SHOWN_BYTES) {
        text[SHOWN_BYTES] = '\0';
    }
    return text;
}

static int differs(const char *where, const json_t *then, const json_t *now)
{
    char *a, *b;

    if (then == now || (then != NULL && now != NULL && json_equal(then, now))) {
        return 0;
    }
    a = shown(then);
    b = shown(now);
    (void)printf(
        "differs in %s:\n  then: %s\n  now:  %s\n", where, a != NULL ? a : "", b != NULL ? b : "");
    free(a);
    free(b);
    return 1;
}

static int calls_differ(const json_t *then, const json_t *now)
{
    static const char *const keys[] = {"name", "input", "reason", "output", "error"};
    size_t count = json_array_size(then), count_now = json_array_size(now), i, k;
    char where[64];

    for (i = 0; i < count && i < count_now; i++) {
        for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            (void)snprintf(where, sizeof(where), "calls[%zu].%s", i, keys[k]);
            if (differs(where, json_object_get(json_array_get(then, i), keys[k]),
                    json_object_get(json_array_get(now, i), keys[k]))) {
                return 1;
            }
        }
    }
    (void)snprintf(where, sizeof(where), "calls[%zu]", i);
    return differs(where, json_array_get(then, i), json_array_get(now, i));
}

/* First what happened first, as far as one can tell: calls, then output, then how it ended. */
static int compare(const struct replay *r, struct vial_result *result)
{
    static const char *const keys[] = {
        "stdout", "stderr", "status", "error", "value", "text", "exit_code", "files"};
    const json_t *then = json_object_get(r->root, "result");
    struct vial_error err = {.text = "no memory"};
    json_t *now = recording_outcome(result, r->read != NULL ? &r->read->audit : NULL, &err);
    size_t i;
    int differ;

    if (now == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "the result cannot be compared: %s", err.text);
    }
    differ = calls_differ(json_object_get(then, "calls"), json_object_get(now, "calls"));
    for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && !differ; i++) {
        differ = differs(keys[i], json_object_get(then, keys[i]), json_object_get(now, keys[i]));
    }
    if (!differ) {
        (void)printf("the same: status %s, %zu calls\n",
            json_string_value(json_object_get(now, "status")), r->count);
    }
    json_decref(now);
    return differ ? EXIT_REFUSED : EXIT_FINE;
}

/* ---- the command ---- */

static int is_python(const struct replay *r)
{
    const char *end = r->request.name != NULL ? strrchr(r->request.name, '.') : NULL;

    return r->request.language == VIAL_LANGUAGE_PYTHON ||
           (end != NULL && strcmp(end, ".py") == 0) ||
           (r->read != NULL && r->read->language == VIAL_LANGUAGE_PYTHON);
}

static int run_again(struct replay *r)
{
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine = NULL;
    struct vial_result *result = NULL;
    struct vial_env *env = NULL;
    struct vial_error err;
    int code = EXIT_FINE;

    eo.pool_count = eo.runs_max = 1;
    eo.quick = 1;
    eo.no_jit = json_is_true(json_object_get(r->root, "no_jit"));
    eo.for_sessions = r->document != NULL;
    eo.language = is_python(r) ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT;
    if (vial_engine_new(&eo, &engine, &err) < 0 ||
        (r->document != NULL && vial_env_new(engine, r->document, strlen(r->document), r->tools,
                                    r->tools_count, &env, &err) < 0)) {
        vial_engine_free(engine);
        return cli_fail_library(&err);
    }
    r->request.environment = env;
    if (vial_run(engine, &r->request, &result, &err) < 0) {
        code = cli_fail_library(&err);
    } else {
        code = compare(r, result);
    }
    vial_result_free(result);
    vial_env_free(env);
    vial_engine_free(engine);
    return code;
}

/* A repetition changes nothing anywhere: unless somebody asks for it, it has no network. 0, or an
 * exit code after a message. */
static int deny_network(struct replay *r)
{
    const struct vial_request *q = &r->request;
    json_t *permissions = q->permissions != NULL
                              ? json_loadb(q->permissions, q->permissions_len, 0, NULL)
                              : json_object();

    if (json_object_set_new(permissions, "net", json_string("deny")) == 0) {
        r->permissions = json_dumps(permissions, JSON_COMPACT);
    }
    json_decref(permissions);
    if (r->permissions == NULL) {
        return cli_fail(EXIT_USAGE, "the permissions in %s are no JSON object", r->what);
    }
    r->request.permissions = r->permissions;
    r->request.permissions_len = strlen(r->permissions);
    return 0;
}

/* Says what a repetition cannot have. */
static void warn(const struct replay *r, int has_net)
{
    size_t i, count = 0;

    for (i = 0; i < r->count; i++) {
        count += strcmp(r->pasts[i].name, "fetch") == 0 && r->pasts[i].input == NULL;
    }
    if (count > 0) {
        (void)fprintf(stderr,
            "vial: the run made %zu requests to the network, whose answers are not recorded; %s\n",
            count,
            has_net ? "they are made again, without secrets"
                    : "they are refused now, and --net makes them again");
    }
}

static int repeat_from(const char *data_dir, const char *source, int has_net)
{
    static struct replay r;
    char what[RECORDING_ARG_BYTES], *text = NULL;
    size_t len = 0;
    int code = recording_arg_load(data_dir, source, what, &text, &len);

    if (code != 0) {
        return code;
    }
    r.what = what;
    code = replay_read(&r, text, len, repeat);
    free(text);
    if (code == 0 && !has_net && r.document != NULL) {
        code = deny_network(&r);
    }
    if (code == 0) {
        warn(&r, has_net);
        code = run_again(&r);
    }
    replay_release(&r);
    return code;
}

int cmd_replay(int argc, char **argv)
{
    static const char *const known[] = {"--data-dir", "--net", "--help", NULL};
    const char *data_dir = NULL, *source = NULL;
    struct cli_args a;
    int code = 0, has_net = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL && source == NULL) {
            source = a.word;
        } else if (a.option == NULL) {
            code = cli_fail(EXIT_USAGE, "give one recording; see `vial replay --help`");
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            (void)printf("%s", HELP);
            return EXIT_FINE;
        } else if (strcmp(a.option, "--data-dir") == 0) {
            data_dir = cli_args_value(&a, "replay");
            code = data_dir != NULL ? 0 : EXIT_USAGE;
        } else if (strcmp(a.option, "--net") == 0) {
            code = cli_args_plain(&a, "replay");
            has_net = 1;
        } else {
            code = cli_unknown_option("replay", a.option, known);
        }
    }
    if (code == 0 && source == NULL) {
        code = cli_fail(EXIT_USAGE, "give a recording: vial replay FILE | RUN");
    }
    return code != 0 || source == NULL ? code : repeat_from(data_dir, source, has_net);
}
