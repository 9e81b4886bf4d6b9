/* mutation.c - proves that the suite would notice: each control is switched off in turn, and at
 * least one of the cases that look at it must then fail. A case that does not pass with everything
 * on proves nothing. */
#include <stdio.h>
#include <string.h>

#include "jail/layer.h"
#include "suite.h"

enum { LIST_BYTES = 240, NOTICED_BYTES = 400 };

/* Controls that are no layers of the report but parts of one, or the host's own. */
static const struct {
    const char *name, *purpose;
} PARTS[] = {
    {"clone-gate", "a cell that stays clones only with the host's consent"},
    {"clone-flags", "and only as a branch is cloned"},
    {"shared-memory", "no memory is shared: with branches, or past who counts it"},
    {"spent-consent", "an order that was given up needs no consent any more"},
    {"strays", "a process of a family that no cell stands for is ended"},
    {"one-each", "one process is one member"},
    {"joined", "a branch is on its own account before it goes on"},
    {"rest", "a session that rests uses no processor time"},
    {"thread-flags", "a cell with threads makes nothing but threads"},
    {"family-threads", "a cell that stays has threads only where its language has"},
    {"library-beneath", "the host serves nothing outside of the directories of a library"},
    {"library-list", "and only the directories that this cell may see"},
    {"library-flood", "and keeps few answers that nobody reads"},
    {"net-private", "requests go to public addresses only, unless a rule names one"},
    {"net-answers", "every address of a name is judged"},
    {"net-pinned", "a name is resolved once: what was judged is what is connected to"},
    {"net-socket", "a socket is made for an address that was judged, and no other"},
    {"net-request", "and a request is sent to such an address only"},
    {"net-hops", "each redirect is judged again"},
    {"net-credentials", "credentials stay with their origin"},
    {"net-headers", "headers about the connection are the host's"},
    {"net-large", "an answer ends at its limit"},
    {"net-decoded", "and at another one after decompression"},
    {"net-time", "a request ends in time"},
    {"net-count", "requests are counted"},
};
enum { PARTS_COUNT = sizeof(PARTS) / sizeof(PARTS[0]) };

/* Runs a case in an engine without these layers. 1: it passed; 0: it failed; -1: there was no
 * engine or no cell for it, and a refusal is no finding. */
static int run_without(
    struct suite *s, const struct attack *a, const char *without, char *why, size_t size)
{
    int good;

    s->engine = runs_engine(s, without, a->look != NULL ? 2 : 1, why, size);
    if (s->engine == NULL) {
        return -1;
    }
    good = runs_attack(s, a, why, size);
    vial_engine_free(s->engine);
    s->engine = NULL;
    return good;
}

static int at_level(const struct suite *s, const struct attack *a)
{
    uint32_t here = strcmp(s->level, "full") == 0       ? AT_FULL
                    : strcmp(s->level, "rootless") == 0 ? AT_ROOTLESS
                                                        : AT_FILTERED;

    return (a->levels & here) != 0;
}

/* One control: who looks at it, and who noticed that it is gone. */
static void mutate_one(struct suite *s, const char *name, const char *purpose)
{
    char without[LIST_BYTES], why[WHY_BYTES], noticed[NOTICED_BYTES] = "";
    size_t used = 0;
    unsigned i, looked = 0;
    int before, after;

    if (s->only != NULL && strcmp(s->only, name) != 0) {
        return;
    }
    for (i = 0; i < s->attacks_count; i++) {
        const struct attack *a = &s->attacks[i];

        if (!attacks_list_has(a->sees, name) || !at_level(s, a)) {
            continue;
        }
        looked++;
        (void)snprintf(without, sizeof(without), "%s%s%s", a->without != NULL ? a->without : "",
            a->without != NULL ? "," : "", name);
        before = run_without(s, a, a->without, why, sizeof(why));
        if (before != 1) {
            (void)printf("  %s does not pass with %s on: %s\n", a->id, name, why);
            continue;
        }
        after = run_without(s, a, without, why, sizeof(why));
        if (after == 0 && used < sizeof(noticed)) {
            used += (size_t)snprintf(
                noticed + used, sizeof(noticed) - used, "%s%s", used > 0 ? " " : "", a->id);
        }
        if (!s->quiet) {
            (void)printf(
                "  without %s, %s %s\n", without, a->id, after == 1 ? "notices nothing" : why);
        }
    }
    if (looked == 0) {
        s->skipped++;
        (void)printf("skip %s: this level does not have it\n", name);
    } else if (noticed[0] == '\0') {
        s->failed++;
        (void)printf("FAILED %s is not missed by any of %u cases\n", name, looked);
    } else {
        s->passed++;
        (void)printf("ok %s is missed by %s\n", name, noticed);
    }
    if (s->results != NULL) {
        (void)fprintf(s->results, "mutation\t%s\t%s\t%s\n", name, purpose,
            noticed[0] != '\0' ? noticed : "-");
    }
}

int mutation_run(struct suite *s)
{
    unsigned layer, part;

    for (layer = 0; layer < LAYER_COUNT; layer++) {
        if (layer == LAYER_USERNS && strcmp(s->level, "full") != 0) {
            s->skipped++;
            (void)printf("skip %s: without it a plain user can make none of the others\n",
                layer_name(layer));
            continue;
        }
        mutate_one(s, layer_name(layer), layer_purpose(layer));
        (void)fflush(stdout);
    }
    for (part = 0; part < PARTS_COUNT; part++) {
        mutate_one(s, PARTS[part].name, PARTS[part].purpose);
        (void)fflush(stdout);
    }
    return s->failed == 0 ? 0 : 1;
}
