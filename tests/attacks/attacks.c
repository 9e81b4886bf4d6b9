/* attacks.c - collects the cases: raw ones, looks, and the scripts with what their first lines say.
 *
 * The first line of a script is a comment that says how it must end, the second one what the
 * attacker wants:
 *
 *     / * expect: status=exception name=RangeError limits: wall_ms=500 memory_mb=32 * /
 *     / * The attacker wants ... * /
 *
 * or, in Python,
 *
 *     # expect: status=exception name=MemoryError limits: memory_mb=32
 *     # The attacker wants ...
 *
 * Words before limits: are status (names with | between them), value (JSON without spaces), name,
 * message (a part of it, with _ for spaces), dropped, level, and for files out (the pattern that is
 * asked for), names and outputs (which and how many must come back). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "suite.h"

enum {
    SCRIPT_BYTES_MAX = 64 * 1024, /* the longest script is a few kilobytes */
    LINE_BYTES_MAX = 400,
    PATH_BYTES_MAX = 4096,
    CASES_MAX = 1024, /* there are some 500 */
};

static const struct attack RAW_CASES[] = {
#define ATTACK(function, ...) {__VA_ARGS__},
#include "raw_table.inc"
#undef ATTACK
};

enum { RAW_COUNT = sizeof(RAW_CASES) / sizeof(RAW_CASES[0]) };
_Static_assert((int)RAW_COUNT < (int)CASES_MAX / 2, "there is room for all other cases");

int attacks_list_has(const char *list, const char *word)
{
    size_t len = strlen(word);
    const char *p = list != NULL ? list : "";

    while (*p != '\0') {
        size_t n = strcspn(p, ", |");

        if (n == len && memcmp(p, word, len) == 0) {
            return 1;
        }
        p += n;
        p += *p != '\0' ? 1 : 0;
    }
    return 0;
}

static int take_number(struct attack *a, const char *key, unsigned long v)
{
    const struct {
        const char *key;
        uint32_t *to;
    } rows[] = {{"wall_ms", &a->wall_ms}, {"cpu_ms", &a->cpu_ms}, {"memory_mb", &a->memory_mb},
        {"timers", &a->timers}, {"files", &a->files}, {"open_files", &a->open_files}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            *rows[i].to = (uint32_t)v;
            return 0;
        }
    }
    if (strcmp(key, "stdout_bytes") == 0) {
        a->stdout_bytes = v;
        return 0;
    }
    if (strcmp(key, "disk_bytes") == 0) {
        a->disk_bytes = v;
        return 0;
    }
    if (strcmp(key, "value_bytes") == 0) {
        a->value_bytes = v;
        return 0;
    }
    return -1;
}

static uint32_t statuses(const char *names)
{
    uint32_t set = 0;
    int i;

    for (i = VIAL_STATUS_OK; i <= VIAL_STATUS_CRASHED; i++) {
        set |= attacks_list_has(names, vial_status_name(i)) ? 1U << i : 0;
    }
    return set;
}

/* One word of the expectation, cut in two at its equals sign; the text stays. */
static int take_word(struct attack *a, const char *key, char *value, int in_limits)
{
    char *end;
    unsigned long v;

    if (in_limits) {
        v = strtoul(value, &end, 10);
        return *end == '\0' ? take_number(a, key, v) : -1;
    }
    if (strcmp(key, "status") == 0) {
        a->status = statuses(value);
        return a->status != 0 ? 0 : -1;
    }
    if (strcmp(key, "value") == 0) {
        a->value = value;
    } else if (strcmp(key, "name") == 0) {
        a->name = value;
    } else if (strcmp(key, "message") == 0) {
        for (end = value; (end = strchr(end, '_')) != NULL; end++) {
            *end = ' ';
        }
        a->message = value;
    } else if (strcmp(key, "dropped") == 0) {
        a->dropped = 1;
    } else if (strcmp(key, "out") == 0) {
        a->out = value;
    } else if (strcmp(key, "names") == 0) {
        a->names = value;
    } else if (strcmp(key, "outputs") == 0) {
        a->outputs = (unsigned)strtoul(value, NULL, 10);
    } else if (strcmp(key, "level") == 0) {
        a->levels = (attacks_list_has(value, "full") ? AT_FULL : 0U) |
                    (attacks_list_has(value, "rootless") ? AT_ROOTLESS : 0U) |
                    (attacks_list_has(value, "filtered") ? AT_FILTERED : 0U);
    } else {
        return -1;
    }
    return 0;
}

/* What class a set of ends belongs to, for the table of the documentation. */
static const char *answer_of(uint32_t status)
{
    static const char *const names[][2] = {{"wall_limit", "killed:wall_limit"},
        {"cpu_limit", "killed:cpu_limit"}, {"memory_limit", "killed:memory_limit"},
        {"output_limit", "killed:output_limit"}, {"exception", "error:exception"},
        {"crashed", "error:crashed"}};
    size_t i;
    int n;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (n = VIAL_STATUS_OK; n <= VIAL_STATUS_CRASHED; n++) {
            if ((status & 1U << n) != 0 && strcmp(vial_status_name(n), names[i][0]) == 0) {
                return names[i][1];
            }
        }
    }
    return "contained";
}

static int take_expectation(struct attack *a, char *line)
{
    char *saved = NULL;
    char *word;
    char *equals;
    int in_limits = 0;

    for (word = strtok_r(line, " ", &saved); word != NULL; word = strtok_r(NULL, " ", &saved)) {
        if (strcmp(word, "limits:") == 0) {
            in_limits = 1;
            continue;
        }
        if (strcmp(word, "*/") == 0) {
            break;
        }
        equals = strchr(word, '=');
        if (equals == NULL) {
            return -1;
        }
        *equals = '\0';
        if (take_word(a, word, equals + 1, in_limits) < 0) {
            return -1;
        }
    }
    a->answer = answer_of(a->status);
    return a->status != 0 ? 0 : -1;
}

static char *read_script(const char *path, size_t *ret_len)
{
    char *text = malloc(SCRIPT_BYTES_MAX + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 && text != NULL ? fd_read_up_to(fd, text, SCRIPT_BYTES_MAX) : -1;

    fd_closep(&fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *ret_len = (size_t)n;
    return text;
}

/* How the first two lines of a script begin, and what follows the text of the second. */
struct dialect {
    const char *dir, *ending, *first, *second, *end;
};

static const struct dialect DIALECTS[] = {
    {"js", ".js", "/* expect: ", "\n/* ", " */"}, {"py", ".py", "# expect: ", "\n# ", ""}};
enum { DIALECTS_COUNT = sizeof(DIALECTS) / sizeof(DIALECTS[0]), DIALECT_PYTHON = 1 };

/* The texts that a case keeps live as long as the program. */
static int load_script(
    const struct suite *s, const struct dialect *d, struct attack *a, const char *file)
{
    char path[PATH_BYTES_MAX];
    size_t start = strlen(d->first);
    char *text, *line, *want, *id;
    size_t len;

    (void)snprintf(path, sizeof(path), "%s/%s/%s", s->scripts_dir, d->dir, file);
    text = read_script(path, &len);
    if (text == NULL || strncmp(text, d->first, start) != 0) {
        (void)fprintf(stderr, "%s: no expectation in the first line\n", path);
        return -1;
    }
    a->source = text;
    a->source_len = len;
    a->python = d == &DIALECTS[DIALECT_PYTHON];
    line = strndup(text + start, strcspn(text + start, "\n"));
    want = strstr(text, d->second);
    id = strndup(file, strcspn(file, "_."));
    a->expectation = line;
    a->id = id;
    if (line == NULL || want == NULL || id == NULL || take_expectation(a, line) < 0) {
        (void)fprintf(stderr, "%s: the first two lines are not understood\n", path);
        return -1;
    }
    want += strlen(d->second);
    want = strndup(want, strcspn(want, "\n"));
    if (want == NULL || strlen(want) < strlen(d->end)) {
        return -1;
    }
    want[strlen(want) - strlen(d->end)] = '\0';
    a->what = want;
    return 0;
}

static int is_script(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void add_cases(struct suite *s, const struct attack *cases, unsigned count)
{
    memcpy(s->attacks + s->attacks_count, cases, count * sizeof(*cases));
    s->attacks_count += count;
}

static int add_scripts(struct suite *s, const struct dialect *d)
{
    struct dirent **names = NULL;
    char path[PATH_BYTES_MAX];
    const char *ending;
    int count, n;
    int r = 0;

    (void)snprintf(path, sizeof(path), "%s/%s", s->scripts_dir, d->dir);
    count = scandir(path, &names, is_script, alphasort);
    if (count <= 0) {
        (void)fprintf(stderr, "no scripts in %s: %s\n", path, strerror(errno));
        return -1;
    }
    for (n = 0; n < count; n++) {
        ending = strrchr(names[n]->d_name, '.');
        if (r == 0 && ending != NULL && strcmp(ending, d->ending) == 0) {
            r = s->attacks_count < CASES_MAX
                    ? load_script(s, d, &s->attacks[s->attacks_count++], names[n]->d_name)
                    : -1;
        }
        free(names[n]);
    }
    free(names);
    return r;
}

int attacks_load(struct suite *s)
{
    unsigned i;
    int r = 0;

    s->attacks = calloc(CASES_MAX, sizeof(*s->attacks));
    if (s->attacks == NULL) {
        return -1;
    }
    s->raw_count = RAW_COUNT;
    add_cases(s, RAW_CASES, RAW_COUNT);
    add_cases(s, LOOKS, LOOKS_COUNT);
    add_cases(s, LOOKS_PYTHON, LOOKS_PYTHON_COUNT);
    add_cases(s, LOOKS_NET, LOOKS_NET_COUNT);
    for (i = 0; i < DIALECTS_COUNT && r == 0; i++) {
        r = add_scripts(s, &DIALECTS[i]);
    }
    for (i = 0; i < s->attacks_count; i++) {
        s->attacks[i].levels = s->attacks[i].levels != 0 ? s->attacks[i].levels : AT_ALL;
        s->attacks[i].status = s->attacks[i].status != 0 ? s->attacks[i].status : STATUS(OK);
    }
    return r;
}

const struct attack *attacks_find(const struct suite *s, const char *id)
{
    unsigned i;

    for (i = 0; i < s->attacks_count; i++) {
        if (strcmp(s->attacks[i].id, id) == 0) {
            return &s->attacks[i];
        }
    }
    return NULL;
}
