/* harness.c - the hostile suite: runs every case at one level of isolation and says what came of
 * it.
 *
 * A line for each case, "ok", "FAILED" or "skip", and at the end "N contained, N escaped, layers:
 * ..." and "N passed, N failed, N skipped". The exit code is 1 when something failed.
 * tests/attacks/run starts it for each level. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "jail/layer.h"
#include "suite.h"

static const char USAGE[] =
    "usage: harness --level full|rootless|filtered --cell PROGRAM --scripts DIR [OPTION]...\n"
    "  --only ID        only this case, or those that begin so (Y01*); with --mutation only this\n"
    "                   control\n"
    "  --list           name the cases and do nothing\n"
    "  --mutation       switch off one layer after the other, and see who notices\n"
    "  --results FILE   add a line for each case to the file\n"
    "  --quiet          only what failed\n";

struct options {
    int mutation, hold;
    const char *results;
};

static int parse(int argc, char **argv, struct suite *s, struct options *o)
{
    const struct {
        const char *name;
        const char **text;
        int *flag;
    } rows[] = {{"--level", &s->level, NULL}, {"--cell", &s->cell_path, NULL},
        {"--scripts", &s->scripts_dir, NULL}, {"--only", &s->only, NULL},
        {"--results", &o->results, NULL}, {"--list", NULL, &s->list}, {"--quiet", NULL, &s->quiet},
        {"--mutation", NULL, &o->mutation}, {"--hold", NULL, &o->hold}};
    size_t row;
    int i;

    for (i = 1; i < argc; i++) {
        for (row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
            if (strcmp(argv[i], rows[row].name) == 0) {
                break;
            }
        }
        if (row == sizeof(rows) / sizeof(rows[0]) || (rows[row].text != NULL && i + 1 == argc)) {
            return -1;
        }
        if (rows[row].text != NULL) {
            *rows[row].text = argv[++i];
        } else {
            *rows[row].flag = 1;
        }
    }
    return s->cell_path != NULL && (o->hold || (s->scripts_dir != NULL && s->level != NULL)) ? 0
                                                                                             : -1;
}

static uint32_t level_bit(const char *level)
{
    return strcmp(level, "full") == 0       ? AT_FULL
           : strcmp(level, "rootless") == 0 ? AT_ROOTLESS
                                            : AT_FILTERED;
}

static int wanted(const struct suite *s, const struct attack *a)
{
    size_t len = s->only != NULL ? strlen(s->only) : 0;

    if (len > 0 && s->only[len - 1] == '*') {
        return strncmp(a->id, s->only, len - 1) == 0;
    }
    return s->only == NULL ||
           (strncmp(a->id, s->only, len) == 0 && (a->id[len] == '\0' || a->id[len] == '-'));
}

static void record(struct suite *s, const struct attack *a, const char *outcome)
{
    if (s->results != NULL) {
        (void)fprintf(
            s->results, "%s\t%s\t%s\t%s\t%s\n", s->level, a->id, a->answer, a->what, outcome);
    }
}

static void note_seen(struct suite *s, const struct attack *a)
{
    unsigned i;

    for (i = 0; i < LAYER_COUNT; i++) {
        s->seen |= attacks_list_has(a->sees, layer_name(i)) ? 1U << i : 0;
    }
}

/* Is this case to be passed over here? Says so, with the reason. */
static int passed_over(struct suite *s, const struct attack *a)
{
    const char *reason = NULL;

    if ((a->levels & level_bit(s->level)) == 0) {
        reason = "not a promise of this level";
    }
#ifndef VIAL_MUTATION
    if (a->source == NULL && a->look == NULL) {
        reason = "this build has no raw attacks";
    }
#endif
    if (reason == NULL) {
        return 0;
    }
    s->skipped++;
    record(s, a, "-");
    if (!s->quiet) {
        (void)printf("skip %s %s: %s\n", a->id, a->what, reason);
    }
    return 1;
}

/* A fresh engine and its victim. */
static int begin_engine(struct suite *s, const char *without, char *why, size_t size)
{
    s->engine = runs_engine(s, without, POOL, why, size);
    if (s->engine == NULL) {
        return -1;
    }
    leftovers_base(s);
    victim_start(&s->victim, s->engine);
    return 0;
}

static void end_engine(struct suite *s)
{
    victim_stop(&s->victim);
    vial_engine_free(s->engine);
    s->engine = NULL;
}

/* The case, and the four things that must be true after it. When something is left, the cases after
 * it get an engine of their own: they are not to blame. */
static void run_case(struct suite *s, const struct attack *a)
{
    unsigned hurt = __atomic_load_n(&s->victim.hurt_count, __ATOMIC_SEQ_CST);
    char why[WHY_BYTES] = "", left[WHY_BYTES];
    uint64_t start = clock_now_us();
    int good;

    if (a->python) {
        victim_speak_python(&s->victim);
    }
    good = runs_attack(s, a, why, sizeof(why)) == 1 &&
           runs_benign(s->engine, a->python != 0, why, sizeof(why));
    if (!leftovers_none(s, left, sizeof(left))) {
        (void)snprintf(
            why + strlen(why), sizeof(why) - strlen(why), "%s%.300s", good ? "" : "; ", left);
        good = 0;
        end_engine(s);
        if (begin_engine(s, a->without, left, sizeof(left)) < 0) {
            (void)printf("FAILED %s\n", left);
            exit(1);
        }
    }
    if (good && __atomic_load_n(&s->victim.hurt_count, __ATOMIC_SEQ_CST) != hurt) {
        (void)snprintf(why, sizeof(why), "a run beside it felt it: %.400s", s->victim.why);
        good = 0;
    }
    s->passed += good ? 1 : 0;
    s->failed += good ? 0 : 1;
    record(s, a, good ? "ok" : "FAILED");
    if (good) {
        note_seen(s, a);
    }
    if (!good || !s->quiet) {
        (void)printf("%s %s %s: %s%s%s (%llu ms)\n", good ? "ok" : "FAILED", a->id, a->answer,
            a->what, good ? "" : ": ", good ? "" : why,
            (unsigned long long)(clock_now_us() - start) / 1000);
        (void)fflush(stdout);
    }
}

static int same_group(const struct attack *a, const char *without)
{
    return strcmp(a->without != NULL ? a->without : "", without) == 0;
}

/* All cases that run with these layers off, in one engine with one victim. */
static void run_group(struct suite *s, const char *without)
{
    char why[WHY_BYTES];
    unsigned i;

    if (begin_engine(s, without, why, sizeof(why)) < 0 ||
        strcmp(vial_engine_level(s->engine), s->level) != 0) {
        s->failed++;
        (void)printf("FAILED level %s%s%s: %s\n", s->level, without[0] != '\0' ? " without " : "",
            without, s->engine == NULL ? why : vial_engine_isolation(s->engine));
        end_engine(s);
        return;
    }
    for (i = 0; i < s->attacks_count; i++) {
        const struct attack *a = &s->attacks[i];

        if (same_group(a, without) && wanted(s, a) && !passed_over(s, a)) {
            run_case(s, a);
        }
    }
    end_engine(s);
}

static int group_is_new(const struct suite *s, unsigned index)
{
    const char *without = s->attacks[index].without != NULL ? s->attacks[index].without : "";
    unsigned i;

    for (i = 0; i < s->attacks_count; i++) {
        if (wanted(s, &s->attacks[i]) && same_group(&s->attacks[i], without)) {
            return i == index;
        }
    }
    return 0;
}

#ifdef VIAL_MUTATION
/* Every layer that the report claims must have been looked at by a case that passed. */
static void check_honesty(struct suite *s)
{
    struct vial_engine *engine;
    char why[WHY_BYTES];
    unsigned i, unseen = 0;
    int held;

    engine = runs_engine(s, NULL, 1, why, sizeof(why));
    for (i = 0; engine != NULL && i < LAYER_COUNT; i++) {
        const struct layer_entry *e = &engine->report.entries[i];

        held = e->state == LAYER_ON || e->state == LAYER_PROVEN;
        if (held && (s->seen & 1U << i) == 0) {
            unseen++;
            (void)printf("FAILED S04 the report claims %s, and no case saw it\n", layer_name(i));
        }
    }
    s->failed += unseen > 0 || engine == NULL;
    s->passed += unseen == 0 && engine != NULL;
    (void)printf("%s S04 the report claims what the cases found\n", unseen == 0 ? "ok" : "FAILED");
    vial_engine_free(engine);
}
#endif

static void check_rss(struct suite *s, uint64_t before)
{
    uint64_t after;

    (void)malloc_trim(0);
    after = leftovers_rss();
    if (after > before + RSS_GROWTH_MAX) {
        s->failed++;
        (void)printf(
            "FAILED S01b the host grew by %llu MB\n", (unsigned long long)(after - before) >> 20);
    } else {
        s->passed++;
        (void)printf("ok S01b the host did not grow\n");
    }
}

static void print_layers(const struct suite *s)
{
    unsigned i;
    int some = 0;

    (void)printf("%u contained, %u escaped, layers:", s->passed, s->failed);
    for (i = 0; i < LAYER_COUNT; i++) {
        if ((s->seen & 1U << i) != 0) {
            (void)printf("%s %s", some ? "," : "", layer_name(i));
            some = 1;
        }
    }
    (void)printf("%s\n", some ? "" : " none");
}

static void run_all(struct suite *s)
{
    uint64_t before = leftovers_rss();
    unsigned i;

    for (i = 0; i < s->attacks_count; i++) {
        if (wanted(s, &s->attacks[i]) && group_is_new(s, i)) {
            run_group(s, s->attacks[i].without != NULL ? s->attacks[i].without : "");
        }
    }
    if (s->only == NULL) {
#ifdef VIAL_MUTATION
        check_honesty(s);
#endif
        check_rss(s, before);
    }
    print_layers(s);
}

int main(int argc, char **argv)
{
    struct suite s = {.self = "/proc/self/exe", .shm_id = -1, .listen_fd = -1, .abstract_fd = -1};
    struct options o = {0};
    unsigned i;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* so that nobody who is left can hide */
    if (parse(argc, argv, &s, &o) < 0) {
        (void)fputs(USAGE, stderr);
        return 2;
    }
    if (o.hold) {
        looks_hold(&s);
    }
    if (attacks_load(&s) < 0) {
        return 2;
    }
    for (i = 0; s.list && i < s.attacks_count; i++) {
        (void)printf("%s %s: %s\n", s.attacks[i].id, s.attacks[i].answer, s.attacks[i].what);
    }
    if (s.list) {
        return 0;
    }
    s.results = o.results != NULL ? fopen(o.results, "ae") : NULL;
    if (bait_open(&s) < 0) {
        return 2;
    }
    if (o.mutation) {
        (void)mutation_run(&s);
    } else {
        run_all(&s);
    }
    bait_close(&s);
    if (s.results != NULL) {
        (void)fclose(s.results);
    }
    free(s.attacks);
    (void)printf("%u passed, %u failed, %u skipped\n", s.passed, s.failed, s.skipped);
    return s.failed == 0 ? 0 : 1;
}
