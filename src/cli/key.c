/* key.c - `vial key`: creates, lists and revokes the keys of clients of a server. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "cli/change.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "cli/time_args.h"
#include "policy/quota.h"
#include "store/key.h"

enum {
    WORDS_MAX = 2,
    LIST_BYTES_MAX = 8 << 20, /* 10,000 keys with less than 700 bytes each */
};

/* What was given on the command line. */
struct key_args {
    const char *data_dir, *scope, *quota, *name, *expires;
    int json;
    const char *words[WORDS_MAX]; /* the command, and the id */
    size_t words_count;
};

static const char HELP[] =
    "usage: vial key COMMAND [OPTION]...\n\n"
    "Keeps the keys with which clients may use a server: what each may do, and how much. A key\n"
    "is shown once, when it is created; only its hash is stored.\n\n"
    "  create --scope SCOPES [OPTION]...  a new key, on stdout; SCOPES are some of run, session,\n"
    "                                     env and admin, with commas between them\n"
    "    --quota NAME=N,...               concurrent=4,runs_per_minute=600,\n"
    "                                     cpu_seconds_per_day=3600,sessions=8 if not said\n"
    "                                     otherwise; 0 allows none\n"
    "    --name NAME                      for people, up to 64 bytes\n"
    "    --expires 30d                    refused from then on: s, m, h, d or w; else never\n"
    "  list [--json]                      all keys, without their secrets\n"
    "  revoke ID                          refuse it from now on, in running servers too\n\n"
    "  --json                             create: the key and what it may do, as JSON\n"
    "  --data-dir DIR                     where they are kept, as for `vial env`\n\n"
    "What changes is recorded in the audit (`vial audit`). Exit codes: 0 done, 1 there is no such\n"
    "key, 2 usage, 125 the store or the audit failed. docs/keys.md tells more.\n";

/* ---- what all commands need ---- */

static int open_store(
    const struct key_args *o, char directory[ENV_PATH_BYTES_MAX], struct key_store **ret)
{
    struct vial_error err;
    int code = env_data_dir(o->data_dir, directory, ENV_PATH_BYTES_MAX);

    if (code != 0) {
        return code;
    }
    return key_store_open(directory, ret, &err) < 0 ? env_fail(&err) : 0;
}

/* What the audit gets of a change of a key. */
static struct change change_of(const char *what, const char *id, const char *detail)
{
    return (struct change){.agent = "vial key", .what = what, .key = id, .detail = detail};
}

static void put_info(struct json_writer *w, const struct key_info *info)
{
    const struct {
        const char *name;
        uint64_t us;
    } times[] = {{"created", info->created_us}, {"used", info->used_us},
        {"expires", info->expires_us}, {"revoked", info->revoked_us}};
    char scopes[KEY_SCOPES_TEXT_BYTES_MAX];
    size_t i;

    key_scopes_text(info->scopes, scopes);
    json_key(w, "id");
    json_text(w, info->id);
    json_key(w, "name");
    json_text(w, info->name);
    json_key(w, "scopes");
    json_text(w, scopes);
    json_key(w, "quota");
    json_begin_object(w);
    json_key(w, "concurrent");
    json_u64(w, info->quota.concurrent);
    json_key(w, "runs_per_minute");
    json_u64(w, info->quota.runs_per_minute);
    json_key(w, "cpu_seconds_per_day");
    json_u64(w, info->quota.cpu_seconds_per_day);
    json_key(w, "sessions");
    json_u64(w, info->quota.sessions);
    json_end_object(w);
    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        json_key(w, times[i].name);
        json_text(w, times[i].us != 0 ? env_time(times[i].us) : NULL);
    }
}

static int print_buf(struct json_writer *w, struct buf *out, const struct vial_error *err)
{
    int r = json_finish(w);

    if (r == VIAL_OK) {
        (void)printf("%s\n", out->data);
    }
    buf_wipe(out);
    return r == VIAL_OK ? EXIT_FINE : env_fail(err);
}

/* ---- create ---- */

static int read_options(const struct key_args *o, struct key_options *ret)
{
    struct vial_error err;
    uint64_t us;

    *ret = (struct key_options){.name = o->name, .quota = QUOTA_DEFAULT};
    if (o->scope == NULL) {
        return cli_fail(EXIT_USAGE, "vial key create needs --scope: what the key may do, like "
                                    "--scope run,session");
    }
    if (key_scopes_parse(o->scope, &ret->scopes, &err) < 0 ||
        (o->quota != NULL && quota_parse(o->quota, &ret->quota, &err) < 0)) {
        return cli_fail(EXIT_USAGE, "%s", err.text);
    }
    if (o->expires != NULL) {
        if (time_args_length(o->expires, &us) < 0) {
            return cli_fail(
                EXIT_USAGE, "--expires takes a number and s, m, h, d or w: --expires 30d");
        }
        ret->expires_us = id_now_us() + us;
    }
    return 0;
}

static int print_created(const struct key_args *o, const struct key_info *info, const char *token)
{
    struct json_writer w;
    struct vial_error err;
    struct buf out;

    if (!o->json) {
        (void)fprintf(stderr, "This is the only time that the key is shown:\n");
        (void)printf("%s\n", token);
        return EXIT_FINE;
    }
    buf_init(&out, 4096);
    json_init(&w, &out, &err);
    json_begin_object(&w);
    json_key(&w, "token");
    json_text(&w, token);
    put_info(&w, info);
    json_end_object(&w);
    return print_buf(&w, &out, &err);
}

static int do_create(const struct key_args *o)
{
    char directory[ENV_PATH_BYTES_MAX], token[KEY_TOKEN_BYTES + 1];
    char detail[320], scopes[KEY_SCOPES_TEXT_BYTES_MAX], quota[QUOTA_TEXT_BYTES_MAX];
    struct key_store *store = NULL;
    struct audit *audit = NULL;
    struct change change;
    struct key_options options;
    struct key_info info;
    struct vial_error err;
    int code = read_options(o, &options);

    code = code != 0 ? code : open_store(o, directory, &store);
    code = code != 0 ? code : change_open(directory, &audit);
    if (code == 0 && key_create(store, &options, &info, token, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        key_scopes_text(info.scopes, scopes);
        quota_text(&info.quota, quota);
        (void)snprintf(detail, sizeof(detail), "scopes %s; quota %s%s%s", scopes, quota,
            info.name[0] != '\0' ? "; name " : "", info.name);
        change = change_of("key.create", info.id, detail);
        if (change_note(audit, &change, &err) < 0) {
            code = env_fail(&err);
            if (key_revoke(store, info.id, NULL, &err) < 0) { /* nobody has seen it */
                code = env_fail(&err);
            }
        } else {
            code = print_created(o, &info, token);
        }
        explicit_bzero(token, sizeof(token));
    }
    audit_free(audit, NULL);
    key_store_free(store);
    return code;
}

/* ---- list ---- */

static const char *state_of(const struct key_info *info)
{
    return info->revoked_us != 0                                      ? "revoked"
           : info->expires_us != 0 && info->expires_us <= id_now_us() ? "expired"
                                                                      : "good";
}

static int print_json(const struct key_info *list, size_t count)
{
    struct json_writer w;
    struct vial_error err;
    struct buf out;
    size_t i;

    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, &err);
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        json_begin_object(&w);
        put_info(&w, &list[i]);
        json_key(&w, "state");
        json_text(&w, state_of(&list[i]));
        json_end_object(&w);
    }
    json_end_array(&w);
    return print_buf(&w, &out, &err);
}

static void print_table(const struct key_info *list, size_t count)
{
    char scopes[KEY_SCOPES_TEXT_BYTES_MAX], quota[QUOTA_TEXT_BYTES_MAX];
    size_t i;

    (void)printf("%-12s  %-7s  %-21s  %-20s  %-20s  %-20s  %s\n", "ID", "STATE", "SCOPES",
        "CREATED", "USED", "EXPIRES", "NAME, QUOTA");
    for (i = 0; i < count; i++) {
        key_scopes_text(list[i].scopes, scopes);
        quota_text(&list[i].quota, quota);
        (void)printf("%-12s  %-7s  %-21s  %-20s  ", list[i].id, state_of(&list[i]), scopes,
            env_time(list[i].created_us));
        (void)printf("%-20s  ", list[i].used_us != 0 ? env_time(list[i].used_us) : "never");
        (void)printf("%-20s  ", list[i].expires_us != 0 ? env_time(list[i].expires_us) : "never");
        (void)printf("%s%s%s\n", list[i].name, list[i].name[0] != '\0' ? ", " : "", quota);
    }
}

static int do_list(const struct key_args *o)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct key_store *store = NULL;
    struct key_info *list = NULL;
    struct vial_error err;
    size_t count = 0;
    int code = open_store(o, directory, &store);

    if (code == 0 && key_list(store, &list, &count, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0 && o->json) {
        code = print_json(list, count);
    } else if (code == 0 && count == 0) {
        (void)fprintf(stderr, "There are no keys; `vial key create --scope run` makes one.\n");
    } else if (code == 0) {
        print_table(list, count);
    }
    free(list);
    key_store_free(store);
    return code;
}

/* ---- revoke ---- */

static int do_revoke(const struct key_args *o)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct key_store *store = NULL;
    struct audit *audit = NULL;
    struct change change;
    struct key_info info;
    struct vial_error err;
    int code = open_store(o, directory, &store);

    if (code == 0 && key_revoke(store, o->words[1], &info, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        /* Recorded afterwards, and in any case done: who revokes a key is in a hurry. */
        (void)printf("revoked %s\n", info.id);
        code = change_open(directory, &audit);
        change = change_of("key.revoke", info.id, "");
        if (code == 0 && change_note(audit, &change, &err) < 0) {
            code = env_fail(&err);
        }
    }
    audit_free(audit, NULL);
    key_store_free(store);
    return code;
}

/* ---- the command line ---- */

enum { TAKES_JSON = 1, TAKES_OPTIONS = 2 };

static const struct {
    const char *name, *words;
    size_t words_count;
    unsigned takes;
    int (*run)(const struct key_args *o);
} COMMANDS[] = {{"create", " --scope SCOPES", 1, TAKES_JSON | TAKES_OPTIONS, do_create},
    {"list", "", 1, TAKES_JSON, do_list}, {"revoke", " ID", 2, 0, do_revoke}};

static int take_option(struct key_args *o, struct cli_args *a)
{
    static const char *const known[] = {
        "--data-dir", "--scope", "--quota", "--name", "--expires", "--json", "--help", NULL};
    const char **const values[] = {&o->data_dir, &o->scope, &o->quota, &o->name, &o->expires};
    size_t i;

    if (strcmp(a->option, "--json") == 0) {
        o->json = 1;
        return cli_args_plain(a, "key");
    }
    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (strcmp(a->option, known[i]) == 0) {
            if (*values[i] != NULL) {
                return cli_fail(EXIT_USAGE, "%s was given twice", known[i]);
            }
            *values[i] = cli_args_value(a, "key");
            return *values[i] != NULL ? 0 : EXIT_USAGE;
        }
    }
    return cli_unknown_option("key", a->option, known);
}

/* 0, or an exit code; -1 when only help was asked for. */
static int parse(struct key_args *o, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option != NULL && (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0)) {
            (void)printf("%s", HELP);
            return -1;
        }
        if (a.option != NULL) {
            code = take_option(o, &a);
        } else if (o->words_count < WORDS_MAX) {
            o->words[o->words_count++] = a.word;
        } else {
            code = cli_fail(EXIT_USAGE, "there are too many words; see `vial key --help`");
        }
    }
    return code;
}

static int run_command(const struct key_args *o)
{
    size_t i;

    for (i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(o->words[0], COMMANDS[i].name) != 0) {
            continue;
        }
        if (o->words_count != COMMANDS[i].words_count) {
            return cli_fail(
                EXIT_USAGE, "usage: vial key %s%s", COMMANDS[i].name, COMMANDS[i].words);
        }
        if ((COMMANDS[i].takes & TAKES_JSON) == 0 && o->json) {
            return cli_fail(EXIT_USAGE, "vial key %s takes no --json", COMMANDS[i].name);
        }
        if ((COMMANDS[i].takes & TAKES_OPTIONS) == 0 &&
            (o->scope != NULL || o->quota != NULL || o->name != NULL || o->expires != NULL)) {
            return cli_fail(EXIT_USAGE,
                "vial key %s takes no --scope, --quota, --name or --expires", COMMANDS[i].name);
        }
        return COMMANDS[i].run(o);
    }
    return cli_fail(
        EXIT_USAGE, "there is no command \"key %s\"; `vial key --help` lists them", o->words[0]);
}

int cmd_key(int argc, char **argv)
{
    struct key_args o = {.words_count = 0};
    int code = parse(&o, argc, argv);

    if (code != 0) {
        return code < 0 ? EXIT_FINE : code;
    }
    if (o.words_count == 0) {
        return cli_fail(EXIT_USAGE, "vial key needs a command; `vial key --help` lists them");
    }
    /* No core of this process is written, and no debugger of the same user gets into it. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    code = run_command(&o);
    return fflush(stdout) == 0 || code != 0
               ? code
               : cli_fail(EXIT_OUR_FAILURE, "cannot write the answer: %s", strerrordesc_np(errno));
}
