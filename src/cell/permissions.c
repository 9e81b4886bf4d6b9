/* permissions.c - see permissions.h. */
#include "cell/permissions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cell/calls.h"
#include "cell/clock.h"
#include "policy/rules.h"
#include "wire/field.h"
#include "wire/frame.h"

_Static_assert((int)MEMFS_ASK_READ == (int)RULE_READ && (int)MEMFS_ASK_WRITE == (int)RULE_WRITE &&
                   (int)MEMFS_ASK_ENTER == (int)DENIAL_CWD,
    "what files ask about, what rules are about and what the host is told have the same numbers");

enum { LEVELS = 3 }; /* as policy/permission.h has them, which reads JSON and is not in cells */

static const char *const LEVEL_NAMES[LEVELS] = {"environment", "session", "run"};

static struct rules levels[LEVELS];
static struct {
    int is_denied;
    uint32_t level, rule;
    char by[RULE_TEXT_BYTES];
} cwd;
static int random_is_denied;
static struct memfs *judged; /* whose operations are judged; NULL before the first program */
static const char RANDOM_DENIED[] = "random: \"deny\"";
static uint32_t told_count, untold_count;

/* ---- refusing ---- */

static void tell(uint32_t op, uint32_t level, uint32_t rule, const char *path)
{
    struct denial_head head = {.op = op, .level = level, .rule = rule};
    char payload[sizeof(head) + PATH_MAX];
    size_t len = strlen(path);

    if (told_count == DENIALS_MAX) {
        untold_count += untold_count < UINT32_MAX;
        return;
    }
    told_count++;
    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), path, len); /* fits: it is shorter than PATH_MAX */
    calls_send(FRAME_DENIED, payload, sizeof(head) + len);
}

/* One operation. 0 or -EACCES. */
static int judge_one(struct memfs *fs, uint32_t op, const char *path, int quiet)
{
    uint32_t level, rule;

    for (level = 0; level < LEVELS; level++) {
        if (rules_decide_path(&levels[level], op, path, &rule)) {
            continue;
        }
        if (!quiet) {
            rules_say(&levels[level], "fs", LEVEL_NAMES[level], rule, fs->denied_by);
            tell(op, level, rule, path);
        }
        return -EACCES;
    }
    return 0;
}

/* That these are there everybody knows, and programs look at them on their way down. */
static int is_above_all(const char *path)
{
    return strcmp(path, "/") == 0 || strcmp(path, "/home") == 0 || strcmp(path, "/home/vial") == 0;
}

static int judge(struct memfs *fs, unsigned asked, const char *path, int quiet)
{
    int r = 0;

    if ((asked & MEMFS_ASK_ENTER) != 0 && cwd.is_denied) {
        (void)snprintf(fs->denied_by, sizeof(fs->denied_by), "%s", cwd.by);
        tell(DENIAL_CWD, cwd.level, cwd.rule, path);
        return -EACCES;
    }
    if ((asked & MEMFS_ASK_READ) != 0 || ((asked & MEMFS_ASK_LOOK) != 0 && !is_above_all(path))) {
        r = judge_one(fs, RULE_READ, path, quiet);
    }
    if (r == 0 && (asked & MEMFS_ASK_WRITE) != 0) {
        r = judge_one(fs, RULE_WRITE, path, quiet);
    }
    return r;
}

/* ---- the start message ---- */

static void forget(void)
{
    unsigned i;

    for (i = 0; i < LEVELS; i++) {
        free(levels[i].items);
        levels[i] = (struct rules){.word = RULES_UNSAID};
    }
    memset(&cwd, 0, sizeof(cwd));
    random_is_denied = 0;
    told_count = untold_count = 0;
}

static int take_rules(const struct field *f, struct rules **ret)
{
    uint32_t head[3];
    struct rules *rules;

    if (f->len != sizeof(head)) {
        return -1;
    }
    memcpy(head, f->bytes, sizeof(head));
    if (head[0] >= LEVELS || (head[1] != RULES_DENY && head[1] != RULES_LIST) ||
        head[2] > RULES_MAX || levels[head[0]].word != RULES_UNSAID) {
        return -1;
    }
    rules = &levels[head[0]];
    rules->word = (enum rules_word)head[1];
    rules->items = head[2] > 0 ? calloc(head[2], sizeof(*rules->items)) : NULL;
    if (rules->items == NULL && head[2] > 0) {
        return -1;
    }
    rules->count = 0;
    *ret = rules;
    return 0;
}

/* A rule of the list that was begun last; its texts stay where they are. */
static int take_rule(const struct field *f, struct rules *rules)
{
    struct rule *rule;
    const char *name;
    uint32_t bits;
    size_t name_len;

    if (rules == NULL || rules->items == NULL || rules->count >= RULES_MAX ||
        f->len < sizeof(bits) + 2 || f->bytes[f->len - 1] != '\0') {
        return -1;
    }
    memcpy(&bits, f->bytes, sizeof(bits));
    name = f->bytes + sizeof(bits);
    name_len = strlen(name);
    if (sizeof(bits) + name_len + 1 >= f->len) {
        return -1;
    }
    rule = &rules->items[rules->count++];
    rule->allows = (bits & FS_RULE_ALLOWS) != 0;
    rule->ops = bits & RULE_ALL_OPS;
    rule->name = name;
    rule->match = name + name_len + 1;
    return 0;
}

static int take_random(const struct field *f)
{
    struct field_random chance;
    uint64_t seed[4], x;
    unsigned i;

    if (f->len != sizeof(chance)) {
        return -1;
    }
    memcpy(&chance, f->bytes, sizeof(chance));
    random_is_denied = chance.is_denied != 0;
    if (chance.is_kept != 0) {
        return 0;
    }
    for (i = 0; i < 4; i++) { /* splitmix64: seeds that differ by one have nothing in common */
        x = chance.seed + (i + 1) * 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        seed[i] = x ^ (x >> 31);
    }
    return GUEST.reseed(seed);
}

static int take_clock(const struct field *f)
{
    struct field_clock clock;

    if (f->len != sizeof(clock)) {
        return -1;
    }
    memcpy(&clock, f->bytes, sizeof(clock));
    clock_set(clock.at_us, clock.runs != 0);
    return 0;
}

static int take_field(const struct field *f, struct rules **rules)
{
    switch (f->tag) {
    case FIELD_FS_RULES:
        return take_rules(f, rules);
    case FIELD_FS_RULE:
        return take_rule(f, *rules);
    case FIELD_CWD_DENIED:
        if (f->len != 2 * sizeof(uint32_t)) {
            return -1;
        }
        cwd.is_denied = 1;
        memcpy(&cwd.level, f->bytes, sizeof(cwd.level));
        memcpy(&cwd.rule, f->bytes + sizeof(cwd.level), sizeof(cwd.rule));
        return 0;
    case FIELD_CWD_DENIED_BY:
        (void)snprintf(cwd.by, sizeof(cwd.by), "%.*s", (int)f->len, f->bytes);
        return 0;
    case FIELD_RANDOM:
        return take_random(f);
    case FIELD_CLOCK:
        return take_clock(f);
    default:
        return 0;
    }
}

int permissions_begin(const struct guest_start *start, struct memfs *files)
{
    struct rules *rules = NULL;
    struct field f;
    size_t at = 0;
    unsigned i;

    forget();
    clock_unset();
    while (field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (take_field(&f, &rules) < 0) {
            return -1;
        }
    }
    files->judge = cwd.is_denied ? judge : NULL;
    for (i = 0; i < LEVELS; i++) {
        files->judge = levels[i].word != RULES_UNSAID ? judge : files->judge;
    }
    files->denied_by[0] = '\0';
    judged = files;
    return 0;
}

int permissions_end(struct buf *result)
{
    return untold_count > 0 ? field_add_u32(result, FIELD_DENIALS, untold_count, NULL) : 0;
}

/* What libraries call in the place of libc's: the numbers that cannot be foretold. */
__attribute__((visibility("default"))) ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
    if (!random_is_denied) {
        return syscall(SYS_getrandom, bytes, len, flags);
    }
    if (judged != NULL) {
        (void)snprintf(judged->denied_by, sizeof(judged->denied_by), "%s", RANDOM_DENIED);
    }
    errno = EACCES;
    return -1;
}
