/* replay.h - a recording, read: the run that `vial replay` repeats, and the calls that it made. */
#ifndef VIAL_CLI_REPLAY_H
#define VIAL_CLI_REPLAY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/document.h"
#include "vial.h"

/* A call of then. */
struct past {
    const char *name, *status;
    const json_t *input; /* or NULL */
    const json_t *call;  /* all of it */
    uint64_t ended_us;
    uint64_t id; /* of the call of now that repeats it; 0: none yet */
    int is_answered;
};

struct replay {
    const char *what; /* what errors call the recording: "run.json", "the recording of run_..." */
    json_t *root;
    struct past *pasts;
    size_t count;
    int has_strayed; /* a call was made that was not made then: order means nothing any more */
    struct vial_request request; /* but for its environment */
    struct vial_limits limits;
    struct vial_file *files;
    struct vial_module *modules;
    struct vial_scan_rules *rules;
    const char **strings[3];
    struct vial_tool *tools; /* of the environment, or of the request when there is none */
    size_t tools_count;
    char *document;        /* of the environment, or NULL */
    struct document *read; /* the same */
    char *decoded[2];      /* input and stdin */
    char *permissions;     /* of the request when they are others than those of then */
};

/* Reads the recording; its tools are answered by call, which gets the replay. 0, or an exit code
 * after a message; either way replay_release is called. */
int replay_read(struct replay *r, const char *text, size_t len, vial_tool_fn call);
void replay_release(struct replay *r);

/* A value as the recording has it: redacted by the rules of the environment. NULL when it is no
 * JSON. */
json_t *replay_value(const struct replay *r, const char *json, size_t len);

#endif
