/* repl_branches.c - the branches of `vial repl`: sessions that have names, and what they were
 * before the last input. See repl.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/repl.h"

void repl_note(const struct repl *r, const char *format, ...)
{
    va_list args;

    if (r->is_terminal) {
        va_start(args, format);
        (void)vprintf(format, args);
        va_end(args);
        (void)putchar('\n');
    }
}

struct repl_branch *repl_present(struct repl *r)
{
    return &r->branches[r->present];
}

/* What is wrong with a name, or NULL. */
static const char *name_fault(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    if (name[len] != '\0') {
        return "may have letters, digits, - and _";
    }
    return len > REPL_NAME_BYTES_MAX ? "may have up to 32 characters" : NULL;
}

static struct repl_branch *find(struct repl *r, const char *name)
{
    size_t i;

    for (i = 0; i < r->branches_count; i++) {
        if (strcmp(r->branches[i].name, name) == 0) {
            return &r->branches[i];
        }
    }
    return NULL;
}

/* The one that a command means; NULL after a message. */
static struct repl_branch *find_or_say(struct repl *r, const char *name)
{
    struct repl_branch *b = find(r, name);

    if (b == NULL) {
        (void)cli_fail(EXIT_USAGE,
            name[0] != '\0' ? "there is no branch \"%s\"; .branches lists them"
                            : "say which branch%s; .branches lists them",
            name);
    }
    return b;
}

static void release(struct repl_branch *b)
{
    vial_session_free(b->session);
    vial_session_free(b->before);
    buf_release(&b->transcript);
    *b = (struct repl_branch){.name = ""};
}

int repl_branches_open(struct repl *r)
{
    struct repl_branch *b = &r->branches[0];
    struct vial_error err;

    if (vial_session_new(r->engine, &r->session_options, &b->session, &err) < 0) {
        return cli_fail_library(&err);
    }
    (void)snprintf(b->name, sizeof(b->name), "main");
    buf_init(&b->transcript, REPL_TRANSCRIPT_BYTES_MAX);
    r->branches_count = 1;
    return 0;
}

void repl_branches_close(struct repl *r)
{
    while (r->branches_count > 0) {
        release(&r->branches[--r->branches_count]);
    }
}

int repl_branch_make(struct repl *r, const char *name)
{
    const struct repl_branch *from = repl_present(r);
    struct repl_branch *b = &r->branches[r->branches_count];
    struct repl_branch made = {.name = ""};
    struct vial_error err;
    int i;

    if (r->branches_count == REPL_BRANCHES_MAX) {
        return cli_fail(EXIT_USAGE, "there are %d branches, which is the maximum; .drop some",
            REPL_BRANCHES_MAX);
    }
    if (name_fault(name) != NULL) {
        return cli_fail(EXIT_USAGE, "the name of a branch %s", name_fault(name));
    }
    if (find(r, name) != NULL) {
        return cli_fail(EXIT_USAGE, "there is a branch \"%s\" already", name);
    }
    (void)snprintf(made.name, sizeof(made.name), "%s", name);
    for (i = 1; made.name[0] == '\0' || (name[0] == '\0' && find(r, made.name) != NULL); i++) {
        (void)snprintf(made.name, sizeof(made.name), "b%d", i);
    }
    (void)snprintf(made.from, sizeof(made.from), "%s", from->name);
    buf_init(&made.transcript, REPL_TRANSCRIPT_BYTES_MAX);
    if (buf_add(&made.transcript, from->transcript.data, from->transcript.len, NULL) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a branch");
    }
    if (vial_session_branch(from->session, 1, &made.session, &err) < 0) {
        buf_release(&made.transcript);
        return cli_fail_library(&err);
    }
    *b = made;
    r->branches_count++;
    repl_note(
        r, "The state of %s is kept as %s; .use %s goes there.", from->name, b->name, b->name);
    return 0;
}

int repl_branch_use(struct repl *r, const char *name)
{
    struct repl_branch *b = find_or_say(r, name);

    if (b == NULL) {
        return EXIT_USAGE;
    }
    r->present = (size_t)(b - r->branches);
    return 0;
}

int repl_branch_drop(struct repl *r, const char *name)
{
    struct repl_branch *b = find_or_say(r, name);
    size_t index;

    if (b == NULL) {
        return EXIT_USAGE;
    }
    index = (size_t)(b - r->branches);
    if (index == r->present) {
        return cli_fail(EXIT_USAGE, "%s is where we are; .use another one first", name);
    }
    release(b);
    r->branches_count--;
    memmove(b, b + 1, (r->branches_count - index) * sizeof(*b));
    r->present -= r->present > index;
    return 0;
}

/* ---- what was before ---- */

void repl_checkpoint(struct repl *r)
{
    struct repl_branch *b = repl_present(r);
    struct vial_session *made = NULL;

    if (!r->keeps_checkpoints || vial_session_branch(b->session, 1, &made, NULL) < 0) {
        return; /* what is wrong with the session the evaluation will say */
    }
    vial_session_free(b->before);
    b->before = made;
    b->transcript_before = b->transcript.len;
}

static void cut_transcript(struct repl_branch *b, size_t len)
{
    if (b->transcript.len > len) {
        b->transcript.len = len;
        b->transcript.data[len] = '\0';
    }
}

/* Makes the copy the session; there is one. */
static void go_back(struct repl_branch *b)
{
    vial_session_free(b->session);
    b->session = b->before;
    b->before = NULL;
    cut_transcript(b, b->transcript_before);
}

int repl_undo(struct repl *r)
{
    struct repl_branch *b = repl_present(r);

    if (b->before == NULL) {
        return cli_fail(EXIT_USAGE, r->keeps_checkpoints
                                        ? "there is no earlier state: only the last input can be "
                                          "undone, and .branch keeps a state for longer"
                                        : "no earlier states are kept here");
    }
    go_back(b);
    repl_note(r, "Back to the state before the last input.");
    return 0;
}

int repl_recover(struct repl *r, const char *by)
{
    struct repl_branch *b = repl_present(r);
    struct vial_session *fresh = NULL;
    struct vial_error err;

    if (b->before != NULL) {
        go_back(b);
        (void)fprintf(
            stderr, "vial: the session was ended by %s; back to the state before this input\n", by);
        return 0;
    }
    if (vial_session_new(r->engine, &r->session_options, &fresh, &err) < 0) {
        return cli_fail_library(&err);
    }
    vial_session_free(b->session);
    b->session = fresh;
    cut_transcript(b, 0);
    (void)fprintf(stderr, "vial: the session was ended by %s; this is a fresh one\n", by);
    return 0;
}
