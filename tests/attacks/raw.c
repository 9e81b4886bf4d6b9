/* raw.c - the place in a cell where raw attacks happen; see cell/attack.h and raw.h. */
#include "raw.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cell/attack.h"
#include "jail/mutate.h"
#include "wire/frame.h"

/* A row for each of 1024 numbers with its name and two errnos is some 70 bytes long. */
enum { REPORT_BYTES = 256 * 1024 };

static const struct attack TABLE[] = {
#define ATTACK(function, ...) {.raw = function, __VA_ARGS__},
#include "raw_table.inc"
#undef ATTACK
};

static const struct attack *armed;
static uint64_t argument;
static int happened;
static char report[REPORT_BYTES] = "[";
static size_t report_len = 1;

static void put(const char *call, const char *got, const char *want)
{
    int n = snprintf(report + report_len, sizeof(report) - report_len,
        "%s{\"call\":\"%s\",\"got\":\"%s\",\"want\":\"%s\"}", report_len > 1 ? "," : "", call, got,
        want);

    assert(n > 0 && report_len + (size_t)n + 2 < sizeof(report));
    report_len += (size_t)n;
}

void raw_note(const char *call, long r, const char *want)
{
    const char *name = r == -1 ? strerrorname_np(errno) : "ok";

    put(call, name != NULL ? name : "?", want);
}

void raw_note_text(const char *what, const char *got, const char *want)
{
    char safe[200];
    size_t i;

    for (i = 0; i + 1 < sizeof(safe) && got[i] != '\0'; i++) {
        int plain = (got[i] >= '0' && got[i] <= '9') || (got[i] >= 'A' && got[i] <= 'Z') ||
                    (got[i] >= 'a' && got[i] <= 'z') || strchr("-_./:=,+", got[i]) != NULL;

        safe[i] = plain ? got[i] : '?';
    }
    safe[i] = '\0';
    put(what, safe, want);
}

void raw_note_yes(const char *what, int yes)
{
    put(what, yes ? "yes" : "no", "yes");
}

static void happen(void)
{
    happened = 1;
    armed->raw(argument);
}

static void after_step(const char *step)
{
    if (armed->stage != NULL && strcmp(armed->stage, step) == 0) {
        happen();
    }
}

void attack_arm(const struct cell_spec *spec)
{
    uint32_t number = spec->kind == CELL_ORIGIN ? spec->attack - 1 : spec->attack;

    assert(number < sizeof(TABLE) / sizeof(TABLE[0]));
    armed = &TABLE[number];
    argument = spec->attack_argument;
    mutate_step = after_step;
}

unsigned attack_branch_number(void)
{
    return armed != NULL ? armed->branch : BRANCH_AS_IT_SHOULD;
}

int attack_report(const char **ret, size_t *ret_len)
{
    if (armed == NULL) {
        return 0;
    }
    if (!happened && armed->stage == NULL) {
        happen();
    }
    report[report_len] = ']';
    *ret = report;
    *ret_len = report_len + 1;
    return 1;
}
