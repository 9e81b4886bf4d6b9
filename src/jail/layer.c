/* layer.c - see layer.h. */
#include "jail/layer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "jail/mutate.h"

struct layer_row {
    const char *name;
    const char *purpose;
    const char *level; /* the lowest level that has it */
};

static const struct layer_row ROWS[LAYER_COUNT] = {
    [LAYER_USERNS] = {"userns", "root inside is nobody outside", "rootless"},
    [LAYER_PRIVATE_UID] = {"private-uid", "each cell is a user of its own", "full"},
    [LAYER_PRIVATE_ROOT] = {"private-root", "the host's files do not exist inside", "rootless"},
    [LAYER_PIDNS] = {"pidns", "other processes do not exist inside", "rootless"},
    [LAYER_NETNS] = {"netns", "there is no network inside", "rootless"},
    [LAYER_IPCNS] = {"ipcns", "there is no shared memory with others", "rootless"},
    [LAYER_UTSNS] = {"utsns", "the host's name is not visible", "rootless"},
    [LAYER_CGROUPNS] = {"cgroupns", "the host's groups are not visible", "rootless"},
    [LAYER_DESCRIPTORS] = {"descriptors", "only the control socket and three null files are open",
        "filtered"},
    [LAYER_NO_NEW_PRIVS] = {"no-new-privs", "no program can give privileges back", "filtered"},
    [LAYER_CAPABILITIES] = {"capabilities", "there is no privilege left to use", "filtered"},
    [LAYER_LANDLOCK] = {"landlock", "no path, port or foreign process can be reached", "filtered"},
    [LAYER_RLIMITS] = {"rlimits", "files, locks, queues and cores are bounded", "filtered"},
    [LAYER_SECCOMP] = {"seccomp", "only the system calls of the table exist", "filtered"},
    [LAYER_CGROUP_MEMORY] = {"cgroup.memory", "the kernel stops a run at its memory limit", "full"},
    [LAYER_CGROUP_PIDS] = {"cgroup.pids", "the kernel bounds processes and threads", "full"},
};

/* Without these no guest code runs at all. */
static const uint8_t BASIS[] = {
    LAYER_DESCRIPTORS, LAYER_NO_NEW_PRIVS, LAYER_CAPABILITIES, LAYER_RLIMITS, LAYER_SECCOMP};

enum { WORD_BYTES_MAX = 64 }; /* the longest word of a require list */

const char *layer_name(unsigned layer)
{
    return layer < LAYER_COUNT ? ROWS[layer].name : "?";
}

const char *layer_purpose(unsigned layer)
{
    return layer < LAYER_COUNT ? ROWS[layer].purpose : "?";
}

/* A layer that the hostile suite has switched off passes for there: its cases must miss it, not
 * this report. */
static int layer_holds(const struct layer_report *report, unsigned layer)
{
    const struct layer_entry *e = &report->entries[layer];

    return mutate_without(layer) || e->state == LAYER_ON || e->state == LAYER_PROVEN;
}

/* Does everything hold that the level has? Landlock is the second lock on doors that the namespaces
 * closed: only without them it is a must. */
static int level_holds(const struct layer_report *report, const char *level)
{
    int filtered = strcmp(level, "filtered") == 0;
    unsigned i;

    for (i = 0; i < LAYER_COUNT; i++) {
        int counts = strcmp(ROWS[i].level, "filtered") == 0 || strcmp(ROWS[i].level, level) == 0 ||
                     strcmp(level, "full") == 0;

        if (i == LAYER_LANDLOCK && !filtered) {
            continue;
        }
        if (counts && !layer_holds(report, i)) {
            return 0;
        }
    }
    return 1;
}

const char *layer_report_level(const struct layer_report *report)
{
    static const char *const levels[] = {"full", "rootless", "filtered"};
    size_t i;

    for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (level_holds(report, levels[i])) {
            return levels[i];
        }
    }
    return NULL;
}

static const char *state_name(const struct layer_entry *e)
{
    switch (e->state) {
    case LAYER_ON:
        return "on";
    case LAYER_PROVEN:
        return "proven";
    case LAYER_BROKEN:
        return "broken";
    default:
        return "off";
    }
}

void layer_report_write(const struct layer_report *report, struct json_writer *w)
{
    const char *level = layer_report_level(report);
    const struct layer_entry *e;
    unsigned i;

    json_begin_object(w);
    json_key(w, "level");
    json_text(w, level != NULL ? level : "none");
    json_key(w, "memory");
    e = &report->entries[LAYER_CGROUP_MEMORY];
    json_text(w, !layer_holds(report, LAYER_CGROUP_MEMORY)
                     ? "polling"
                     : (e->version == 2 ? "cgroup-v2" : "cgroup-v1"));
    json_key(w, "layers");
    json_begin_array(w);
    for (i = 0; i < LAYER_COUNT; i++) {
        e = &report->entries[i];
        json_begin_object(w);
        json_key(w, "name");
        json_text(w, ROWS[i].name);
        json_key(w, "state");
        json_text(w, state_name(e));
        if (e->version != 0) {
            json_key(w, "version");
            json_u64(w, e->version);
        }
        if (e->sys != 0) {
            json_key(w, "errno");
            json_text(w, strerrorname_np(e->sys) != NULL ? strerrorname_np(e->sys) : "?");
        }
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static int require_layer(
    const struct layer_report *report, unsigned i, unsigned version, struct vial_error *err)
{
    const struct layer_entry *e = &report->entries[i];
    const char *sys = e->sys != 0 ? strerrorname_np(e->sys) : NULL;

    if (!layer_holds(report, i)) {
        return vial__fail(err, VIAL_E_ISOLATION,
            "the layer %s (%s) is required but does not hold here: it is %s%s%s; `vial doctor` "
            "says more",
            ROWS[i].name, ROWS[i].purpose, state_name(e), sys != NULL ? ", " : "",
            sys != NULL ? sys : "");
    }
    if (e->version < version) {
        return vial__fail(err, VIAL_E_ISOLATION,
            "the layer %s is required in version %u, this kernel has version %u", ROWS[i].name,
            version, e->version);
    }
    return VIAL_OK;
}

/* One word of a list: a layer, a layer with a version, or a level. */
static int require_word(const struct layer_report *report, const char *word, struct vial_error *err)
{
    unsigned version = 0;
    size_t len = strcspn(word, ">");
    unsigned i;

    if (strcmp(word, "full") == 0 || strcmp(word, "rootless") == 0 ||
        strcmp(word, "filtered") == 0) {
        const char *level = layer_report_level(report);

        return level_holds(report, word)
                   ? VIAL_OK
                   : vial__fail(err, VIAL_E_ISOLATION,
                         "isolation level %s is required but this is %s; `vial doctor` says why",
                         word, level != NULL ? level : "none");
    }
    if (word[len] != '\0') {
        int used = 0;

        /* sscanf would also take a sign and spaces in front of the number. */
        if (strspn(word + len, ">=") != 2 || word[len + 2] < '0' || word[len + 2] > '9' ||
            sscanf(word + len, ">=%2u%n", &version, &used) != 1 ||
            word[len + (size_t)used] != '\0') {
            return vial__fail(
                err, VIAL_E_INVALID, "in --require, \"%s\" should be LAYER>=NUMBER", word);
        }
    }
    for (i = 0; i < LAYER_COUNT; i++) {
        if (strlen(ROWS[i].name) == len && memcmp(ROWS[i].name, word, len) == 0) {
            return require_layer(report, i, version, err);
        }
    }
    return vial__fail(err, VIAL_E_INVALID,
        "there is no layer \"%s\"; `vial doctor` lists the layers that --require knows", word);
}

int layer_report_require(
    const struct layer_report *report, const char *require, struct vial_error *err)
{
    char word[WORD_BYTES_MAX];
    const char *p = require != NULL && *require != '\0' ? require : NULL;
    size_t i, len;
    int r;

    for (i = 0; i < sizeof(BASIS); i++) {
        r = require_layer(report, BASIS[i], 0, err);
        if (r < 0) {
            return r;
        }
    }
    while (p != NULL) {
        len = strcspn(p, ",");
        if (len == 0 || len >= sizeof(word)) {
            return vial__fail(err, VIAL_E_INVALID,
                "--require takes layers separated by single commas, not \"%s\"", require);
        }
        memcpy(word, p, len);
        word[len] = '\0';
        r = require_word(report, word, err);
        if (r < 0) {
            return r;
        }
        p = p[len] == ',' ? p + len + 1 : NULL; /* after a comma there must be a word */
    }
    return VIAL_OK;
}

int layer_report_keeps(
    const struct layer_report *first, const struct layer_report *second, struct vial_error *err)
{
    unsigned i;
    int r;

    for (i = 0; i < LAYER_COUNT; i++) {
        r = layer_holds(first, i) ? require_layer(second, i, first->entries[i].version, err)
                                  : VIAL_OK;
        if (r < 0) {
            return vial__wrap(err, r, "a new template has less than the first one");
        }
    }
    return VIAL_OK;
}

int layer_require_check(const char *require, struct vial_error *err)
{
    struct layer_report all;
    unsigned i;

    for (i = 0; i < LAYER_COUNT; i++) {
        all.entries[i] = (struct layer_entry){.state = LAYER_PROVEN, .version = UINT8_MAX};
    }
    return layer_report_require(&all, require, err);
}
