/* permission_args.c - see permission_args.h. */
#include "cli/permission_args.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "host/recording.h"
#include "policy/permission.h"

int permission_args_take(struct permission_args *p, struct cli_args *a)
{
    const struct {
        const char *flag, **value;
    } rows[] = {{"--permissions", &p->given}, {"--clock", &p->clock}, {"--seed", &p->seed}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(a->option, rows[i].flag) != 0) {
            continue;
        }
        if (*rows[i].value != NULL) {
            return cli_fail(EXIT_USAGE, "%s was given twice", a->option);
        }
        *rows[i].value = cli_args_value(a, "run");
        return *rows[i].value != NULL ? 0 : EXIT_USAGE;
    }
    return 1;
}

/* A member that has an option of its own; it is given in one way, not in two. */
static int add_member(json_t *root, const char *key, const char *flag, json_t *value)
{
    if (json_object_get(root, key) != NULL) {
        json_decref(value);
        return cli_fail(
            EXIT_USAGE, "give either %s or \"%s\" in --permissions, not both", flag, key);
    }
    return json_object_set_new(root, key, value) < 0
               ? cli_fail(EXIT_OUR_FAILURE, "no memory for permissions")
               : 0;
}

static int add_short(const struct permission_args *p, json_t *root)
{
    uint64_t seed = 0;
    const char *c;
    int code = 0;

    if (p->clock != NULL) {
        code = add_member(root, "clock", "--clock", json_pack("{s:s}", "at", p->clock));
    }
    if (code != 0 || p->seed == NULL) {
        return code;
    }
    for (c = p->seed; *c >= '0' && *c <= '9' && seed < 1ULL << 53; c++) {
        seed = 10 * seed + (uint64_t)(*c - '0');
    }
    if (c == p->seed || *c != '\0' || seed >= 1ULL << 53) {
        return cli_fail(EXIT_USAGE, "--seed takes a whole number below 2^53, not \"%s\"", p->seed);
    }
    return add_member(root, "random", "--seed", json_pack("{s:I}", "seed", (json_int_t)seed));
}

/* Reads, and lets the policy say what is wrong with it, before any engine is started. */
static int check(const char *json)
{
    struct permission *parsed = NULL;
    struct vial_error err;
    int r = permission_parse(json, strlen(json), &parsed, &err);

    permission_free(parsed);
    return r < 0 ? cli_fail_library(&err) : 0;
}

int permission_args_prepare(struct permission_args *p)
{
    char *text = NULL;
    json_t *root = NULL;
    size_t len = 0;
    int code = 0;

    if (p->given == NULL && p->clock == NULL && p->seed == NULL) {
        return 0;
    }
    if (p->given != NULL && p->given[0] == '@') {
        code = cli_read_file(p->given + 1, PERMISSION_BYTES_MAX, "permissions", &text, &len);
    } else {
        text = strdup(p->given != NULL ? p->given : "{}");
        code = text == NULL ? cli_fail(EXIT_OUR_FAILURE, "no memory for permissions") : 0;
        len = text != NULL ? strlen(text) : 0;
    }
    if (code == 0 && text != NULL && strlen(text) != len) {
        code = cli_fail(EXIT_USAGE, "permissions: there is a NUL in %s", p->given + 1);
    }
    code = code != 0 ? code : check(text);
    if (code == 0) {
        root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
        code = root == NULL ? cli_fail(EXIT_OUR_FAILURE, "no memory for permissions")
                            : add_short(p, root);
    }
    if (code == 0) {
        p->json = json_dumps(root, JSON_COMPACT);
        code = p->json == NULL ? cli_fail(EXIT_OUR_FAILURE, "no memory for permissions")
                               : check(p->json);
    }
    json_decref(root);
    free(text);
    return code;
}

int permission_args_settle(struct permission_args *p, const struct permission *environment)
{
    struct vial_error err;
    char *text = NULL;

    if (recording_settle(p->json, p->json != NULL ? strlen(p->json) : 0, environment, &text, &err) <
        0) {
        return cli_fail_library(&err);
    }
    free(p->json);
    p->json = text;
    return 0;
}

void permission_args_release(struct permission_args *p)
{
    free(p->json);
    p->json = NULL;
}
