/* tool_exec.h - a tool that is a program: it reads the arguments from its standard input and prints
 * the answer, both JSON.
 *
 * The program is the operator's and runs with the operator's rights, outside of any cell. It is
 * started anew for each call, in a session and process group of its own, with the environment that
 * it is given and little else. It may hang, flood, or leave children behind; at the end of a call
 * nothing of its group is left. What leaves the group on purpose (setsid) is out of reach. */
#ifndef VIAL_HOST_TOOL_EXEC_H
#define VIAL_HOST_TOOL_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "host/tool_answer.h"

enum {
    TOOL_EXEC_WORDS_MAX = 256,       /* of the command; also variables of the environment */
    TOOL_EXEC_BYTES_MAX = 64 * 1024, /* of the command, and of the environment: half a word's limit
                                        of the kernel */
};

/* Everything is borrowed for the time of a call. */
struct tool_exec {
    const char *const *command; /* the program, as an absolute path or a name to look for in PATH,
                                   and its arguments */
    size_t command_count;
    /* "NAME=value": all that it gets, but for PATH and LANG when they are not among these. HOME is
     * not given: what a program finds there (tokens, settings) is given on purpose or not at all.
     */
    const char *const *env;
    size_t env_count;
    const char *cwd;         /* an absolute path; NULL: where the host is */
    const char *traceparent; /* TRACEPARENT, when it is not NULL and not in env; a valid one */
};

/* Is this a tool that can be called? The program and the directory must be there now. */
VIAL_NODISCARD int tool_exec_check(const struct tool_exec *tool, struct vial_error *err);

/* Calls a tool that passed tool_exec_check with len bytes of JSON.
 *
 * 0: answer, which the caller has initialised, has the JSON and nothing else. TOOL_FAILED: failure,
 * which must have been initialised too, says why. When the program ended badly its name is
 * ExecError and its fields are {"exit_code": 2, "stderr": "the end"}, or with a signal
 * {"exit_code": null, "signal": "SIGSEGV", "stderr": ...}; other failures have "stderr" when there
 * is some. Negative: the host could not do its part.
 *
 * The call is over when the program is: what its children would still print is lost, and they are
 * killed. Blocks until deadline_us of clock_now_us at most; then, or when *cancelled, which is read
 * atomically every 20 ms and may be NULL, is not 0, the whole process group is killed. */
VIAL_NODISCARD int tool_exec_call(const struct tool_exec *tool, const char *args, size_t len,
    uint64_t deadline_us, size_t answer_bytes_max, const int *cancelled, struct buf *answer,
    struct tool_failure *failure, struct vial_error *err);

/* Where the program of the command is, as the call will have it: in its own PATH, or in the one it
 * gets. 0, or an errno. */
int tool_exec_find(const struct tool_exec *tool, char *path, size_t size);

/* What the environment has when the tool does not say otherwise. */
#define TOOL_EXEC_PATH "/usr/local/bin:/usr/bin:/bin"
#define TOOL_EXEC_LANG "C.UTF-8"

#endif
