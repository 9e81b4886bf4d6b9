/* permit.c - see permit.h. */
#include "host/permit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/env.h"
#include "host/run.h"
#include "host/session.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { NAME_BYTES_MAX = 256, REASON_BYTES = PATH_MAX + RULE_TEXT_BYTES + 64 };

static const char WORK[] = "/home/vial/";

/* ---- before the start ---- */

static int is_allowed(const struct run_permit *p, enum permission_scope scope, const char *subject)
{
    return permission_decide(&p->chain, scope, 1, subject, NULL);
}

/* The name in "NAME=value". */
static const char *name_of(const char *variable, char name[NAME_BYTES_MAX + 1])
{
    (void)snprintf(name, NAME_BYTES_MAX + 1, "%.*s", (int)strcspn(variable, "="), variable);
    return name;
}

static void sort_out(struct run_permit *p, const char *const *variables, size_t count, int keep)
{
    char name[NAME_BYTES_MAX + 1];
    size_t i;

    for (i = 0; i < count; i++) {
        if (!is_allowed(p, SCOPE_ENV, name_of(variables[i], name))) {
            p->gone[p->gone_count++] = variables[i];
        } else if (keep) {
            p->kept[p->kept_count++] = variables[i];
        }
    }
}

/* In a session the variables are there already: those of its environment are taken away again. */
static int take_variables(struct vial_run *run, struct vial_session *s, struct vial_error *err)
{
    const struct document_strings none = {.count = 0};
    const struct document_strings *there =
        s != NULL && s->env != NULL ? &s->env->document->env : &none;
    struct run_permit *p = &run->permit;
    size_t count = run->request.env_count + there->count;

    if (count == 0 || !permission_is_restricted(&p->chain, SCOPE_ENV)) {
        return VIAL_OK;
    }
    p->kept = calloc(count, sizeof(*p->kept));
    p->gone = calloc(count, sizeof(*p->gone));
    if (p->kept == NULL || p->gone == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the variables of a run");
    }
    sort_out(p, run->request.env, run->request.env_count, 1);
    sort_out(p, there->items, there->count, 0);
    run->request.env = p->kept;
    run->request.env_count = p->kept_count;
    return VIAL_OK;
}

static void take_process(struct vial_run *run)
{
    struct run_permit *p = &run->permit;

    if (run->request.args_count > 0 && !is_allowed(p, SCOPE_PROCESS, "args")) {
        p->args_gone = 1;
        run->request.args_count = 0;
    }
    if (run->request.stdin_bytes != NULL && !is_allowed(p, SCOPE_PROCESS, "stdin")) {
        p->stdin_gone = 1;
        run->request.stdin_bytes = NULL;
        run->request.stdin_len = 0;
    }
}

/* What a run may not say of what is not its own. */
static int check_own(
    const struct vial_run *run, const struct vial_session *s, struct vial_error *err)
{
    const struct permission *own = run->permit.own;
    const struct vial_request *q = &run->request;

    if (own == NULL) {
        return VIAL_OK;
    }
    if (own->scopes[SCOPE_FS].word == RULES_DENY &&
        (q->files_count > 0 || q->outs_count > 0 || (q->cwd != NULL && q->environment == NULL))) {
        return vial__fail(err, VIAL_E_INVALID,
            "files, outputs and a working directory need the files that /permissions/fs takes "
            "away");
    }
    if (s != NULL && s->has_variables && own->scopes[SCOPE_ENV].word >= RULES_DENY) {
        return vial__fail(err, VIAL_E_INVALID,
            "/permissions/env: the variables were given to the session; say there which it may "
            "have");
    }
    return VIAL_OK;
}

int permit_open(struct vial_run *run, const struct permission *environment, struct vial_session *s,
    struct vial_error *err)
{
    struct run_permit *p = &run->permit;
    const struct vial_request *q = &run->request;
    unsigned i;
    int r = VIAL_OK;

    if (q->permissions != NULL) {
        r = permission_parse(q->permissions, q->permissions_len, &p->own, err);
    }
    p->chain.levels[PERMISSION_ENVIRONMENT] = environment;
    p->chain.levels[PERMISSION_SESSION] = s != NULL ? s->permissions : NULL;
    p->chain.levels[PERMISSION_RUN] = p->own;
    r = r < 0 ? r : check_own(run, s, err);
    r = r < 0 ? r : permission_settle(&p->chain, &p->settled, err);
    for (i = 0; i < SCOPE_COUNT; i++) {
        p->is_restricted |= permission_is_restricted(&p->chain, (enum permission_scope)i);
    }
    if (r < 0 || !p->is_restricted) {
        return r;
    }
    take_process(run);
    return take_variables(run, s, err);
}

void permit_close(struct vial_run *run)
{
    permission_free(run->permit.own);
    free(run->permit.kept);
    free(run->permit.gone);
    memset(&run->permit, 0, sizeof(run->permit));
}

/* ---- what the cell is told ---- */

/* One rule about files: a number of bits, its name and its pattern, each with a NUL. */
static int add_rule(const struct rule *rule, struct buf *fields)
{
    const char *name = rule->name != NULL ? rule->name : "";
    uint32_t bits = rule->ops | (rule->allows ? FS_RULE_ALLOWS : 0);
    char bytes[sizeof(bits) + RULE_NAME_BYTES_MAX + 1 + 2048 + 1];
    size_t name_len = strlen(name) + 1, match_len = strlen(rule->match) + 1;

    memcpy(bytes, &bits, sizeof(bits));
    memcpy(bytes + sizeof(bits), name, name_len); /* they fit: permission_parse.c has checked */
    memcpy(bytes + sizeof(bits) + name_len, rule->match, match_len);
    return field_add(fields, FIELD_FS_RULE, bytes, sizeof(bits) + name_len + match_len, NULL);
}

static int add_level(unsigned level, const struct rules *rules, struct buf *fields)
{
    uint32_t head[3] = {level, rules->word, (uint32_t)rules->count};
    size_t i;
    int r;

    if (rules->word < RULES_DENY) {
        return VIAL_OK;
    }
    r = field_add(fields, FIELD_FS_RULES, head, sizeof(head), NULL);
    for (i = 0; i < rules->count && r == VIAL_OK; i++) {
        r = add_rule(&rules->items[i], fields);
    }
    return r;
}

/* The cell must refuse to change the directory: whose word that is. */
static int add_cwd(const struct run_permit *p, struct buf *fields)
{
    struct permission_verdict v;
    uint32_t by[2];

    if (!permission_is_restricted(&p->chain, SCOPE_PROCESS) ||
        permission_decide(&p->chain, SCOPE_PROCESS, 1, "cwd", &v)) {
        return VIAL_OK;
    }
    by[0] = v.level;
    by[1] = v.rule;
    return field_add(fields, FIELD_CWD_DENIED, by, sizeof(by), NULL) < 0
               ? VIAL_E_NOMEM
               : field_add(fields, FIELD_CWD_DENIED_BY, v.by, strlen(v.by), NULL);
}

static int add_settled(const struct vial_run *run, struct buf *fields)
{
    const struct permission *p = &run->permit.settled;
    struct field_clock clock = {.at_us = p->clock_at_us, .runs = (uint32_t)p->clock_runs};
    struct field_random chance = {.seed = p->seed,
        .is_denied = (uint32_t)permission_is_restricted(&run->permit.chain, SCOPE_RANDOM)};
    int seeds = p->random_is_set &&
                (run->session == NULL || !run->session->seeded || run->permit.own != NULL);
    int r = VIAL_OK;

    if (p->clock_is_set) {
        r = field_add(fields, FIELD_CLOCK, &clock, sizeof(clock), NULL);
    }
    if (p->random_is_set) {
        chance.is_kept = !seeds;
        r = r < 0 ? r : field_add(fields, FIELD_RANDOM, &chance, sizeof(chance), NULL);
    }
    return r;
}

int permit_add_fields(const struct vial_run *run, struct buf *fields)
{
    const struct run_permit *p = &run->permit;
    char name[NAME_BYTES_MAX + 1];
    size_t i;
    int r = add_settled(run, fields);

    if (!p->is_restricted) {
        return r;
    }
    for (i = 0; i < PERMISSION_LEVELS && r == VIAL_OK; i++) {
        if (p->chain.levels[i] != NULL) {
            r = add_level((unsigned)i, &p->chain.levels[i]->scopes[SCOPE_FS], fields);
        }
    }
    r = r < 0 ? r : add_cwd(p, fields);
    for (i = 0; i < p->gone_count && r == VIAL_OK; i++) {
        (void)name_of(p->gone[i], name);
        r = field_add(fields, FIELD_ENV_GONE, name, strlen(name), NULL);
    }
    return r;
}

/* ---- what was refused ---- */

static void record(const struct vial_run *run, struct vial_result *result, const char *what,
    const char *subject, const char *by)
{
    char reason[REASON_BYTES];
    uint64_t now = run->started_us != 0 ? clock_now_us() - run->started_us : 0;
    uint32_t index = result_calls_add(&result->calls, what, now, 0);

    (void)snprintf(
        reason, sizeof(reason), "%s%sdenied by %s", subject, subject[0] != '\0' ? ": " : "", by);
    result_calls_end(&result->calls, index, VIAL_CALL_DENIED, reason, now, 0);
}

void permit_note(const struct vial_run *run, struct vial_result *result)
{
    const struct run_permit *p = &run->permit;
    struct permission_verdict v;
    char name[NAME_BYTES_MAX + 1];
    size_t i;

    for (i = 0; i < p->gone_count; i++) {
        (void)name_of(p->gone[i], name);
        (void)permission_decide(&p->chain, SCOPE_ENV, 1, name, &v);
        record(run, result, "env.read", name, v.by);
    }
    if (p->args_gone) {
        (void)permission_decide(&p->chain, SCOPE_PROCESS, 1, "args", &v);
        record(run, result, "process.args", "", v.by);
    }
    if (p->stdin_gone) {
        (void)permission_decide(&p->chain, SCOPE_PROCESS, 1, "stdin", &v);
        record(run, result, "process.stdin", "", v.by);
    }
}

int permit_tool(const struct vial_run *run, const char *name, char by[RULE_TEXT_BYTES])
{
    struct permission_verdict v;

    if (!run->permit.is_restricted ||
        permission_decide(&run->permit.chain, SCOPE_TOOLS, 1, name, &v)) {
        return 1;
    }
    memcpy(by, v.by, sizeof(v.by));
    return 0;
}

/* A cell of ours sends paths without these; whoever does would look where no rule sees it. */
static int is_straight(const char *path)
{
    size_t len;

    for (; *path != '\0'; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (len == 0 || (len == 1 && path[0] == '.') ||
            (len == 2 && path[0] == '.' && path[1] == '.')) {
            return 0;
        }
    }
    return 1;
}

int permit_look(const struct vial_run *run, const char *name, const char *path)
{
    char full[sizeof(WORK) + (size_t)2 * PATH_MAX + 2];
    int n;

    if (!run->permit.is_restricted || !permission_is_restricted(&run->permit.chain, SCOPE_FS)) {
        return 0;
    }
    n = snprintf(full, sizeof(full), "%s%s%s%s", WORK, name, path[0] != '\0' ? "/" : "", path);
    if (n < 0 || (size_t)n >= sizeof(full) || !is_straight(path)) {
        return EINVAL;
    }
    return permission_decide(&run->permit.chain, SCOPE_FS, RULE_READ, full, NULL) ? 0 : EACCES;
}

/* Can that be what refused? The texts are ours, so a cell can only point to what there is. */
static int is_refusal(
    const struct run_permit *p, enum permission_scope scope, const struct denial_head *head)
{
    const struct permission *level =
        head->level < PERMISSION_LEVELS ? p->chain.levels[head->level] : NULL;
    const struct rules *rules;

    if (level == NULL || level->scopes[scope].word < RULES_DENY) {
        return 0;
    }
    rules = &level->scopes[scope];
    if (head->rule == RULE_WORD || head->rule == RULE_NONE) {
        return (head->rule == RULE_WORD) == (rules->word == RULES_DENY);
    }
    return head->rule < rules->count && !rules->items[head->rule].allows;
}

int permit_take_denial(
    struct vial_run *run, struct vial_result *result, const char *payload, size_t len)
{
    struct run_permit *p = &run->permit;
    enum permission_scope scope;
    char path[PATH_MAX], by[RULE_TEXT_BYTES];
    struct denial_head head;

    if (len <= sizeof(head) || len - sizeof(head) >= sizeof(path)) {
        return -1;
    }
    memcpy(&head, payload, sizeof(head));
    memcpy(path, payload + sizeof(head), len - sizeof(head));
    path[len - sizeof(head)] = '\0';
    scope = head.op == DENIAL_CWD ? SCOPE_PROCESS : SCOPE_FS;
    if ((head.op != RULE_READ && head.op != RULE_WRITE && head.op != DENIAL_CWD) ||
        head.zero != 0 || strlen(path) != len - sizeof(head) || !is_refusal(p, scope, &head) ||
        p->denials_count++ >= DENIALS_MAX) {
        return -1;
    }
    permission_say(&p->chain, scope, head.level, head.rule, by);
    record(run, result,
        head.op == DENIAL_CWD   ? "process.cwd"
        : head.op == RULE_WRITE ? "fs.write"
                                : "fs.read",
        path, by);
    return 0;
}
