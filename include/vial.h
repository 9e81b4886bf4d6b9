/* vial.h - the whole public interface of libvial.
 *
 * A host makes one engine and runs guest programs in it, each in a fresh confined process:
 *
 *     vial_engine_new -> vial_run (as often as wanted, from any thread) -> vial_engine_free
 *
 * or, to be able to cancel a run from another thread:
 *
 *     vial_run_start -> vial_run_wait (-> vial_run_cancel, from anywhere) -> vial_run_free
 *
 * The program can call functions of the host, tools, which come with the request or with an
 * environment, whose prefix is evaluated once and is then in every run:
 *
 *     vial_env_new -> vial_run with request.environment -> vial_env_free
 *
 * A session is a process that stays between programs, and can be branched alive:
 *
 *     vial_session_new -> vial_session_eval ... -> vial_session_branch ... -> vial_session_free
 *
 * Objects are opaque. Whatever a *_new, *_start or *_wait function stores belongs to the caller,
 * who gives it back to the matching *_free; every *_free accepts NULL. Strings passed in need to
 * live only until the call that takes them returns, unless said otherwise. An engine may be used by
 * many threads at once; a run is waited for by one thread and may be cancelled by any other; a
 * session does one thing at a time and says VIAL_E_BUSY to a second one.
 *
 * A guest that throws, loops or eats memory is an ordinary result with a status. A negative return
 * code means that vial itself could not do its job.
 */
#ifndef VIAL_H
#define VIAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIAL_API __attribute__((visibility("default")))
#define VIAL_NODISCARD __attribute__((warn_unused_result))

/* Functions that can fail return 0, or one of these negative codes. Codes are never renumbered. */
enum vial_code {
    VIAL_OK = 0,
    VIAL_E_INVALID = -1,   /* an argument is malformed: the caller's bug */
    VIAL_E_NOMEM = -2,     /* the host is out of memory, not the guest */
    VIAL_E_SYS = -3,       /* the kernel refused: see vial_error.sys */
    VIAL_E_BUSY = -4,      /* no cell became free in time: retry later */
    VIAL_E_ISOLATION = -5, /* a layer of the wall that was required does not hold here */
    VIAL_E_CELL = -6,      /* the cell program is missing, does not start, or broke the protocol */
    VIAL_E_GONE = -7,      /* the session, call or function is over; nothing was done */
};

/* Filled in on failure only, and only when the caller passed one. It owns nothing. */
struct vial_error {
    int code;       /* the same value the function returned */
    int sys;        /* errno behind the failure, or 0 */
    char text[360]; /* one sentence for a person, never for a program to parse */
};

/* How a run ended. Values are never renumbered. */
enum vial_status {
    VIAL_STATUS_OK = 0,
    VIAL_STATUS_EXCEPTION = 1,    /* the guest threw and nothing caught it */
    VIAL_STATUS_WALL_LIMIT = 2,   /* wall_ms_max passed */
    VIAL_STATUS_CPU_LIMIT = 3,    /* cpu_ms_max was used up */
    VIAL_STATUS_MEMORY_LIMIT = 4, /* memory_bytes_max was reached */
    VIAL_STATUS_OUTPUT_LIMIT = 5, /* output went on long after its maximum */
    VIAL_STATUS_CALL_LIMIT = 6,   /* calls of tools went on long after their maximum */
    VIAL_STATUS_DISK_LIMIT = 7,   /* reserved: a guest that has no room left sees ENOSPC */
    /* the kernel stopped a system call no guest has a reason to make, or the scanner refused the
     * program, and nothing of it was evaluated */
    VIAL_STATUS_DENIED = 8,
    VIAL_STATUS_CANCELLED = 9, /* vial_run_cancel was called */
    VIAL_STATUS_CRASHED = 10,  /* the guest's process died of a signal or broke the protocol */
};

/* Where the output of a guest goes. */
enum vial_stream { VIAL_STDOUT = 1, VIAL_STDERR = 2 };

/* The limits of one run. Start from VIAL_LIMITS_INIT, which means "the default" everywhere, then
 * set fields: 0 keeps the default, and no value means "unlimited". vial_limits_resolve tells what
 * holds. */
struct vial_limits {
    uint32_t size;              /* sizeof as the caller was compiled */
    uint32_t wall_ms_max;       /* from the start message to the end, waiting included */
    uint32_t cpu_ms_max;        /* processor time, waiting excluded */
    uint32_t timers_max;        /* timers pending at once */
    uint64_t memory_bytes_max;  /* everything the guest adds to a fresh cell: heap and off-heap */
    uint64_t stdout_bytes_max;  /* kept; what is beyond is counted and dropped */
    uint64_t stderr_bytes_max;  /* likewise */
    uint64_t value_bytes_max;   /* the value of the run, as JSON or CBOR */
    uint64_t disk_bytes_max;    /* all files of the cell together; also the largest single file */
    uint32_t files_max;         /* files and directories in the cell's private tree */
    uint32_t open_files_max;    /* descriptors open at once, four for the process included */
    uint32_t calls_max;         /* calls of tools in one run */
    uint32_t calls_at_once_max; /* those that may wait for their answer at the same time */
    uint64_t call_bytes_max;    /* the arguments of a call, and its answer, each */
    uint64_t approval_ms_max;   /* how long a call may wait for somebody's approval */
    uint32_t requests_max;      /* of the network, in one run; redirects count too */
    uint32_t requests_at_once_max; /* that are under way; others wait for their turn */
    uint32_t request_ms_max;       /* of one, from its start to the last byte of the answer */
    uint32_t redirects_max;        /* that one request may follow; by default none */
    uint64_t request_bytes_max;    /* of the body of one */
    uint64_t response_bytes_max;   /* of the body of an answer, as it comes */
    uint64_t decoded_bytes_max;    /* of the same after decompression */
};
#define VIAL_LIMITS_INIT                                                                           \
    {                                                                                              \
        .size = sizeof(struct vial_limits)                                                         \
    }

/* Tells the engine the value of a secret, which a rule of an environment wants to be put into a
 * request; guests never see it. Writes the value to bytes, which has room for
 * VIAL_SECRET_BYTES_MAX, and its length to *ret_len; the engine overwrites both when it is done.
 * Called from any thread, also from several at once, and should not wait for long. 0, or a negative
 * code with a sentence in *err, which a guest may see. */
#define VIAL_SECRET_BYTES_MAX 65536
typedef int (*vial_secret_fn)(
    const char *name, char *bytes, size_t *ret_len, struct vial_error *err, void *user);

/* How an engine is set up. Start from VIAL_ENGINE_OPTIONS_INIT. */
struct vial_engine_options {
    uint32_t size;            /* sizeof as the caller was compiled */
    uint32_t pool_count;      /* cells kept ready; 0 means the default of 8 */
    uint32_t runs_max;        /* runs at the same time; 0 means the default of 64 */
    uint32_t queue_count_max; /* runs that may wait for a cell; 0 means the default of 256 */
    uint32_t queue_ms_max;    /* how long each waits at most; 0 means the default of 10 s */
    uint32_t no_jit; /* not 0: interpret only, a smaller attack surface at a tenth of the speed */
    uint32_t quick;  /* not 0: start soon instead of warming up for many runs */
    const char *cell_path; /* the program of the cells; NULL: beside libvial, then as installed */
    const char
        *require; /* layers that must hold, separated by commas; NULL: none beyond the basis */
    uint32_t sessions_max;     /* sessions at the same time, branches included; 0 means 64 */
    uint32_t tool_threads_max; /* threads for tools that wait; 0 means the default of 128 */
    /* not 0: the engine is mostly for sessions and environments: they share the one template that
     * is started at once, and programs of plain runs compute a little slower */
    uint32_t for_sessions;
    uint32_t language;        /* enum vial_language: of the cells that are made ready at once */
    uint64_t env_bytes_max;   /* memory of environments that are kept ready; 0 means 1 GiB */
    vial_secret_fn on_secret; /* NULL: there are no secrets */
    void *secret_user;        /* for on_secret */
};
#define VIAL_ENGINE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(struct vial_engine_options)                                                 \
    }

/* Called with each piece of output as it arrives, in the thread that waits for the run. The
 * callback sees at most the stream's limit; text past it is only counted. */
typedef void (*vial_output_fn)(int stream, const char *bytes, size_t len, void *user);

/* Called with each artifact (docs/artifacts.md) when all of it has arrived, in the thread that
 * waits for the run. result is not there yet but for its artifacts up to index, which
 * vial_result_artifact and vial_result_representation tell of; it may be asked for these until the
 * function returns. */
struct vial_result;
typedef void (*vial_artifact_fn)(const struct vial_result *result, size_t index, void *user);

/* A file that a run gets or gives back. A caller sets the rest to 0. */
struct vial_file {
    const char *name; /* beneath /home/vial: "data/a.csv"; UTF-8, no part of it is "." or ".." */
    const char *bytes;
    size_t len;
    uint32_t mode; /* permission bits; 0 means 0644 */
    uint32_t reserved;
};

/* Whether a run has a private directory, in which the guest's file functions work. */
enum vial_files_mode {
    VIAL_FILES_AUTO = 0, /* it has one: until it is used, it costs nothing */
    VIAL_FILES_ON = 1,   /* the same */
    VIAL_FILES_OFF = 2,
};

/* What a source is. */
enum vial_kind {
    VIAL_KIND_AUTO = 0, /* a module when it has import, export or import.meta; else a script */
    VIAL_KIND_SCRIPT = 1,
    VIAL_KIND_MODULE = 2, /* an ES module */
};

/* A module that the program may import or require. The name is what it is asked for by: "./lib.js"
 * at the root, where the program is too, or a bare name such as "lodash". There are no files behind
 * these names; docs/modules.md has the rules. */
struct vial_module {
    const char *name;   /* UTF-8 of up to 1024 bytes */
    const char *source; /* UTF-8, need not end in NUL */
    size_t source_len;
};

/* More modules than this are a mistake, and each costs a little even when it is not used. */
#define VIAL_MODULES_MAX 1000

/* What the source is written in. */
enum vial_language {
    /* Python when the name ends in .py; TypeScript when it ends in .ts, .mts or .cts, or when the
     * source is no JavaScript but becomes so without types; else JavaScript */
    VIAL_LANGUAGE_AUTO = 0,
    VIAL_LANGUAGE_JAVASCRIPT = 1,
    VIAL_LANGUAGE_TYPESCRIPT = 2, /* types are taken out, not checked */
    VIAL_LANGUAGE_PYTHON = 3,
};

struct vial_engine;
struct vial_run;
struct vial_result;
struct vial_env;
struct vial_session;

/* ---- tools ---- */

/* A call of a tool, as its function sees it. What it points to lives until the function returns. */
struct vial_call {
    uint32_t size;
    uint32_t args_is_cbor; /* only for tools with VIAL_TOOL_VALUES; docs/values.md */
    uint64_t id;           /* for vial_call_answer and the others, from any thread */
    const char *name;      /* of the tool */
    const char *args;      /* JSON, or CBOR; valid by the tool's input_schema */
    size_t args_len;
    uint64_t run_id; /* of the run it comes from; sessions have one for each evaluation */
};

/* Does what the tool is for, and says so by vial_call_answer or vial_call_fail, before it returns
 * or later. It may be called in several threads at once, but for VIAL_TOOL_INLINE. */
typedef void (*vial_tool_fn)(struct vial_engine *engine, const struct vial_call *call, void *user);

enum vial_tool_mode {
    VIAL_TOOL_ASYNC = 0, /* the guest gets a promise */
    VIAL_TOOL_SYNC = 1,  /* the guest is blocked and gets the answer: for code that forgets await */
};

enum vial_tool_flags {
    /* The function does not wait for anything: it is called in the thread that waits for the run,
     * which is quickest. */
    VIAL_TOOL_INLINE = 1,
    /* Each call needs somebody's approval; see on_approve in struct vial_request. */
    VIAL_TOOL_APPROVE = 2,
    /* Takes, and may give, values that JSON cannot say, as CBOR. */
    VIAL_TOOL_VALUES = 4,
    /* Programs do not see it. It is asked for each module that JavaScript imports, before those
     * that came along: {"specifier", "referrer"} (null: the program), and answers {"name",
     * "source"}, {"name"} of one that it has given before, or null for "not mine". Such names may
     * be anything; the scanner does not see such sources. Its mode must be VIAL_TOOL_SYNC; the last
     * one of a run counts. */
    VIAL_TOOL_MODULES = 8,
};

/* A function of the host that programs can call. It is done by a function, by an HTTP server or by
 * a program; exactly one of call, url and command is set. A caller sets the rest to 0. */
struct vial_tool {
    uint32_t size;             /* sizeof as the caller was compiled */
    uint32_t mode;             /* enum vial_tool_mode */
    const char *name;          /* "find", or "crm.find", which is a member of the object crm */
    const char *description;   /* for a model; may be NULL */
    const char *input_schema;  /* JSON Schema of the one argument; NULL: anything */
    const char *output_schema; /* of the answer; NULL: anything */
    vial_tool_fn call;
    void *user;                 /* for call */
    const char *url;            /* gets a POST of the arguments and answers with JSON */
    const char *const *headers; /* "Name: value", which the guest never sees */
    size_t headers_count;
    const char *const *command; /* a program: JSON on its stdin, JSON on its stdout */
    size_t command_count;
    const char *const *command_env; /* "NAME=value"; beside these it has PATH and LANG */
    size_t command_env_count;
    const char *command_cwd;                    /* NULL: where the host is */
    uint32_t flags;                             /* enum vial_tool_flags */
    uint32_t timeout_ms_max;                    /* 0: 30 s */
    uint32_t calls_max;                         /* in one run; 0: as many as the run may make */
    uint32_t concurrency_max;                   /* of one run; 0: as many as the run may have */
    uint64_t input_bytes_max, output_bytes_max; /* 0: as many as the run may have */
};
#define VIAL_TOOL_INIT                                                                             \
    {                                                                                              \
        .size = sizeof(struct vial_tool)                                                           \
    }

#define VIAL_TOOLS_MAX 1000 /* of a run or an environment; more do not fit into a prompt anyway */

/* What on_approve says to a call. */
enum vial_approval {
    VIAL_APPROVAL_LATER = 0, /* vial_call_approve will say */
    VIAL_APPROVAL_YES = 1,
    VIAL_APPROVAL_NO = 2, /* the guest gets an error that it can catch */
};
typedef int (*vial_approve_fn)(
    struct vial_engine *engine, const struct vial_call *call, void *user);

/* What the scanner does before a program is evaluated (docs/scanner.md). It advises; what it does
 * not see still meets the wall. */
enum vial_scan {
    VIAL_SCAN_AUTO = 0, /* what the environment says; nothing without one */
    /* A run may be stricter than its environment, never less strict: */
    VIAL_SCAN_WARN = 1,  /* the result tells what was found */
    VIAL_SCAN_BLOCK = 2, /* and a program with a finding of severity block is refused: denied */
    VIAL_SCAN_ONLY = 3,  /* the result tells, and nothing is evaluated */
};

/* A file of rules beside ours. */
struct vial_scan_rules {
    const char *name; /* for messages; up to 64 bytes of UTF-8 */
    const char *text; /* need not end in NUL */
    size_t len;       /* up to 256 KiB */
};

#define VIAL_SCAN_RULES_MAX 16 /* files of one run or environment */

/* What to run. Start from VIAL_REQUEST_INIT. */
struct vial_request {
    uint32_t size; /* sizeof as the caller was compiled */
    /* not 0: render the value as text, like a REPL, instead of as JSON; then any value can be
     * had */
    uint32_t want_text;
    const char *source; /* UTF-8, need not end in NUL */
    size_t source_len;
    const char *name;  /* what stack traces call the source; NULL: "main.js" */
    const char *input; /* the guest's global `input`: JSON, or CBOR; NULL: undefined */
    size_t input_len;
    const struct vial_limits *limits; /* NULL: the defaults */
    vial_output_fn on_output;         /* may be NULL; output is kept in the result in any case */
    void *user;                       /* for on_output and on_artifact */
    uint32_t input_is_cbor;           /* not 0: input is CBOR in the vocabulary of docs/values.md */
    /* Files that are there when the guest starts, and patterns of those that the result has:
     * * ? [..] and **, relative to /home/vial. docs/files.md has the rules. */
    const struct vial_file *files;
    size_t files_count;
    const char *const *outs;
    size_t outs_count;
    const char *const *env; /* "NAME=value": all that process.env has */
    size_t env_count;
    const char *const *args; /* what process.argv has from its third element on */
    size_t args_count;
    const char *cwd;         /* a directory beneath /home/vial, made when missing; NULL: that */
    const char *stdin_bytes; /* what process.stdin gives; NULL: nothing */
    size_t stdin_len;
    uint32_t files_mode;               /* enum vial_files_mode */
    const struct vial_module *modules; /* module_count of them */
    size_t module_count;
    uint32_t kind;     /* enum vial_kind, of the source */
    uint32_t language; /* enum vial_language */
    /* Where to run it; NULL: in a plain cell. What the environment has comes first, and the request
     * may not change what the environment does not declare. */
    struct vial_env *environment;
    /* Tools of this run. With an environment they stand in for tools of it with the same name. They
     * and what they point to must live until the run is over. */
    const struct vial_tool *tools;
    size_t tools_count;
    const char *globals; /* a JSON object: values of globals that the environment declares */
    size_t globals_len;
    vial_approve_fn on_approve; /* asked for calls that need approval; NULL: they are denied */
    uint32_t record_calls;      /* not 0: the result has the arguments and answers of calls */
    uint32_t entry_is_main;     /* not 0: the value is what the program's function main() returns */
    /* What the program may do, as a JSON object (docs/permissions.md), or NULL. In an environment
     * or a session it can only tighten what holds there. */
    const char *permissions;
    size_t permissions_len;
    uint32_t scan; /* enum vial_scan */
    uint32_t scan_rules_count;
    const struct vial_scan_rules *scan_rules; /* of this run, which says how it is scanned */
    /* What the program may ask of the network: JSON as in permissions.net of an environment
     * (docs/network.md); NULL: nothing. In an environment the environment says it. */
    const char *net;
    size_t net_len;
    /* The trace that the run is a part of, as the W3C's traceparent of version 00: tools that are
     * servers get it as that header, programs as the variable TRACEPARENT, unless the tool has its
     * own. NULL, or a text that is none: they get nothing. */
    const char *traceparent;
    vial_artifact_fn on_artifact; /* may be NULL; artifacts are in the result in any case */
};
#define VIAL_REQUEST_INIT                                                                          \
    {                                                                                              \
        .size = sizeof(struct vial_request)                                                        \
    }

/* "1.2.3" */
VIAL_API const char *vial_version(void);

/* Fills the defaults into *limits and checks it. VIAL_E_INVALID names the field that is out of
 * range. */
VIAL_API VIAL_NODISCARD int vial_limits_resolve(struct vial_limits *limits, struct vial_error *err);

/* Starts a template, proves its wall by violating it, and begins to fill the pool. Takes some 40
 * ms, or half of that when quick; blocks until the engine can take runs. options may be NULL. */
VIAL_API VIAL_NODISCARD int vial_engine_new(
    const struct vial_engine_options *options, struct vial_engine **ret, struct vial_error *err);

/* Ends every cell and gives everything back. No run of this engine may be in progress. */
VIAL_API void vial_engine_free(struct vial_engine *engine);

/* The isolation report as JSON: {"level": ..., "layers": [...]}. Lives as long as the engine. */
VIAL_API const char *vial_engine_isolation(const struct vial_engine *engine);

/* "full", "rootless" or "filtered". */
VIAL_API const char *vial_engine_level(const struct vial_engine *engine);

/* Blocks until the pool is full or ms passed. For benchmarks and for warming up on purpose. */
VIAL_API void vial_engine_settle(struct vial_engine *engine, uint32_t ms);

/* Numbers about the engine for monitoring and benchmarks. */
struct vial_engine_stats {
    uint32_t size;           /* sizeof as the caller was compiled */
    uint32_t ready_count;    /* cells waiting in the pool */
    uint32_t busy_count;     /* runs in progress */
    uint32_t template_count; /* templates started so far; more than 1 after a rotation or a death */
    uint64_t run_count;      /* runs started so far */
    int32_t template_pid;    /* in the host's pid namespace */
    int32_t idle_cell_pid;   /* some waiting cell, or 0 */
};
#define VIAL_ENGINE_STATS_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(struct vial_engine_stats)                                                   \
    }
VIAL_API void vial_engine_stats(struct vial_engine *engine, struct vial_engine_stats *stats);

/* Runs to the end and stores what happened. Blocks for at most queue_ms_max + wall_ms_max and a
 * grace. */
VIAL_API VIAL_NODISCARD int vial_run(struct vial_engine *engine, const struct vial_request *request,
    struct vial_result **ret, struct vial_error *err);

/* The same in two steps. The request's strings and limits must live until vial_run_wait returns.
 * When no cell is ready, vial_run_start does not wait for one: the run starts in vial_run_wait. */
VIAL_API VIAL_NODISCARD int vial_run_start(struct vial_engine *engine,
    const struct vial_request *request, struct vial_run **ret, struct vial_error *err);
VIAL_API VIAL_NODISCARD int vial_run_wait(
    struct vial_run *run, struct vial_result **ret, struct vial_error *err);

/* For a thread with a loop of its own, between vial_run_start and vial_run_wait: goes on with a run
 * without waiting. vial_run_fd is a descriptor of the run's that can be read when vial_run_try has
 * something to hear; -1 when only vial_run_wait can go on: no cell was ready, there are tools or a
 * network, or the program ended in a way that takes a moment to find out about. vial_run_try gives
 * the result, or NULL when there is none yet. Only vial_run_wait keeps limits of time: a run that
 * has not ended after a few milliseconds belongs to it. */
VIAL_API int vial_run_fd(const struct vial_run *run);
VIAL_API VIAL_NODISCARD int vial_run_try(
    struct vial_run *run, struct vial_result **ret, struct vial_error *err);

/* Stops the run from any thread. vial_run_wait then returns a result with status cancelled, unless
 * the run ended before. Async-signal-safe. */
VIAL_API void vial_run_cancel(struct vial_run *run);
VIAL_API void vial_run_free(struct vial_run *run);

/* Answers a call with JSON (NULL: undefined), once, from any thread; nothing of it is kept.
 * VIAL_E_GONE when the call is over already: answered, late, or its run has ended; then nothing
 * happens. An answer that is too large, no JSON or against the tool's output_schema reaches the
 * guest as an error and is VIAL_E_INVALID here. */
VIAL_API VIAL_NODISCARD int vial_call_answer(struct vial_engine *engine, uint64_t call_id,
    const char *json, size_t len, struct vial_error *err);

/* The same with CBOR, for tools with VIAL_TOOL_VALUES. */
VIAL_API VIAL_NODISCARD int vial_call_answer_cbor(struct vial_engine *engine, uint64_t call_id,
    const char *cbor, size_t len, struct vial_error *err);

/* Answers a call with an error: what the guest can catch has this name, this message, and the
 * members of fields, a JSON object or NULL. */
VIAL_API VIAL_NODISCARD int vial_call_fail(struct vial_engine *engine, uint64_t call_id,
    const char *name, const char *message, const char *fields, struct vial_error *err);

/* Says yes (not 0) or no to a call that waits for approval. reason is for the guest; may be NULL.
 */
VIAL_API VIAL_NODISCARD int vial_call_approve(struct vial_engine *engine, uint64_t call_id, int yes,
    const char *reason, struct vial_error *err);

/* ---- environments ---- */

/* Makes an environment of a JSON document (docs/environments.md). tools give the functions for
 * those that the document declares without url or command; their other members are the document's.
 * The environment's template starts on first use. VIAL_E_INVALID with the first thing that is
 * wrong; vial_env_check tells all of them. */
VIAL_API VIAL_NODISCARD int vial_env_new(struct vial_engine *engine, const char *document,
    size_t len, const struct vial_tool *tools, size_t tools_count, struct vial_env **ret,
    struct vial_error *err);

/* No run and no session may be in it. */
VIAL_API void vial_env_free(struct vial_env *env);

/* Everything that is wrong with a document, as JSON: [{"path": ..., "message": ...}]. The caller
 * frees *ret with vial_text_free. */
VIAL_API VIAL_NODISCARD int vial_env_check(
    const char *document, size_t len, char **ret, struct vial_error *err);
VIAL_API void vial_text_free(char *text);

/* Starts the environment's template now and tells how its prefix went, as a result of a run. */
VIAL_API VIAL_NODISCARD int vial_env_start(
    struct vial_env *env, struct vial_result **ret, struct vial_error *err);

/* ---- sessions ---- */

struct vial_session_options {
    uint32_t size;
    uint32_t idle_ms_max;         /* unused for so long it ends; 0: 30 minutes */
    uint32_t life_ms_max;         /* and after so long in any case; 0: 24 hours */
    uint32_t language;            /* enum vial_language, when there is no environment to say so */
    struct vial_env *environment; /* NULL: none */
    const struct vial_limits
        *limits;                   /* of each evaluation, and the memory and files of all of it */
    const char *name;              /* for people; may be NULL */
    const struct vial_tool *tools; /* must live as long as the session and its branches */
    size_t tools_count;
    const char *globals; /* as in a request */
    size_t globals_len;
    const struct vial_module *modules;
    size_t module_count;
    const struct vial_file *files;
    size_t files_count;
    const char *const *env; /* as in a request */
    size_t env_count;
    const char
        *permissions; /* as in a request; of all its programs, which can tighten it further */
    size_t permissions_len;
};
#define VIAL_SESSION_OPTIONS_INIT                                                                  \
    {                                                                                              \
        .size = sizeof(struct vial_session_options)                                                \
    }

enum vial_session_state {
    VIAL_SESSION_IDLE = 0,
    VIAL_SESSION_BUSY = 1,
    VIAL_SESSION_ENDED = 2, /* by a hard limit, a crash, its age, or vial_session_end */
};

struct vial_session_info {
    uint32_t size;
    uint32_t state; /* enum vial_session_state */
    uint64_t id;
    uint64_t parent_id;           /* of the session it was branched from; 0: none */
    uint64_t created_us, used_us; /* of the clock that vial_clock_us reads */
    uint64_t eval_count;
    uint64_t memory_bytes; /* what it has now that its template has not */
    uint32_t file_count;
    uint32_t branch_count; /* made of it so far */
    uint64_t file_bytes;
    char name[64];
    char ended[160]; /* why, one sentence, when it has ended */
};
#define VIAL_SESSION_INFO_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(struct vial_session_info)                                                   \
    }

VIAL_API VIAL_NODISCARD int vial_session_new(struct vial_engine *engine,
    const struct vial_session_options *options, struct vial_session **ret, struct vial_error *err);

/* Ends the session and gives it back. Branches of it live on. */
VIAL_API void vial_session_free(struct vial_session *session);

/* Ends it; later evaluations are VIAL_E_GONE. From any thread. */
VIAL_API void vial_session_end(struct vial_session *session);

/* Evaluates a program in the session: what it leaves behind is there for the next one. A result
 * with a limit or a cancellation says by vial_result_session_lives whether the session is still
 * usable. Of the request files, modules, env, globals and tools must not be set: they are the
 * session's. */
VIAL_API VIAL_NODISCARD int vial_session_eval(struct vial_session *session,
    const struct vial_request *request, struct vial_result **ret, struct vial_error *err);

/* Stops the evaluation in progress, softly when that is possible. From any thread;
 * async-signal-safe. */
VIAL_API void vial_session_cancel(struct vial_session *session);

/* Makes count sessions of the state of this one by forking its process: heap, closures, timers,
 * files. On failure none is left. */
VIAL_API VIAL_NODISCARD int vial_session_branch(
    struct vial_session *session, size_t count, struct vial_session *ret[], struct vial_error *err);

/* Calls a function that an evaluation returned, as itself or inside of its value, where it is shown
 * as
 * {"$function": handle}; this is what held it. args is a JSON array, or a CBOR array when the
 * request says input_is_cbor; functions of the session may be among the values of the latter. The
 * rest of the request may set limits, on_output and user. Branches have the functions that there
 * were. */
VIAL_API VIAL_NODISCARD int vial_session_call(struct vial_session *session, uint64_t handle,
    const char *args, size_t args_len, const struct vial_request *request, struct vial_result **ret,
    struct vial_error *err);

/* Lets go of it. Otherwise it lives as long as the session. */
VIAL_API VIAL_NODISCARD int vial_session_release(
    struct vial_session *session, uint64_t handle, struct vial_error *err);

VIAL_API void vial_session_info(struct vial_session *session, struct vial_session_info *info);

/* Names that begin like this, for completion: a JSON array of strings. The caller frees *ret with
 * vial_text_free. */
VIAL_API VIAL_NODISCARD int vial_session_complete(
    struct vial_session *session, const char *text, size_t len, char **ret, struct vial_error *err);

/* ---- pools of sessions ---- */

/* So many sessions are kept ready and lent out. What is given back is ended, and a new one takes
 * its place: nobody finds anything of somebody else's. */
struct vial_pool;

struct vial_pool_status {
    uint32_t size;
    uint32_t total_count;
    uint32_t available_count;
    uint32_t in_use_count;
};
#define VIAL_POOL_STATUS_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(struct vial_pool_status)                                                    \
    }

/* Makes the pool with all its sessions. options may be NULL; what they point to must live as long
 * as the pool. The engine must be able to have as many sessions (sessions_max). */
VIAL_API VIAL_NODISCARD int vial_pool_new(struct vial_engine *engine, uint32_t size,
    const struct vial_session_options *options, struct vial_pool **ret, struct vial_error *err);

/* Lends a session, waiting up to wait_ms for one; VIAL_E_BUSY when there is none. The caller gives
 * it back, and frees it in no other way. */
VIAL_API VIAL_NODISCARD int vial_pool_acquire(
    struct vial_pool *pool, uint32_t wait_ms, struct vial_session **ret, struct vial_error *err);

/* Ends the session and makes a new one. It has ended also when that fails; the next acquire tries
 * again then. */
VIAL_API VIAL_NODISCARD int vial_pool_release(
    struct vial_pool *pool, struct vial_session *session, struct vial_error *err);

VIAL_API void vial_pool_status(struct vial_pool *pool, struct vial_pool_status *status);

/* Ends all its sessions, those that are lent as well. */
VIAL_API void vial_pool_free(struct vial_pool *pool);

/* Fills in up to count infos (whose size the first one has) of the engine's sessions; how many
 * there are. */
VIAL_API size_t vial_engine_sessions(
    struct vial_engine *engine, struct vial_session_info *infos, size_t count);

/* ---- results ---- */

/* Everything below is borrowed from the result and lives as long as it. */
VIAL_API void vial_result_free(struct vial_result *result);
VIAL_API int vial_result_status(const struct vial_result *result);
VIAL_API const char *vial_status_name(int status);

/* The value as JSON, NULL when there is none (undefined, or not ok). A value that JSON cannot say
 * (a Map, a BigInt, bytes, ...) is shown with tags, such as {"$bigint":"12"}; this is made on the
 * first call, and NULL without memory. vial_result_cbor tells which it is. */
VIAL_API const char *vial_result_value(struct vial_result *result, size_t *len);

/* The same as CBOR when JSON cannot say it, else NULL. docs/values.md has the vocabulary. */
VIAL_API const char *vial_result_cbor(const struct vial_result *result, size_t *len);

/* The value as a REPL would print it, when want_text was set and there is one; else NULL. */
VIAL_API const char *vial_result_text(const struct vial_result *result, size_t *len);

/* What the guest printed, and how many bytes were dropped beyond the limit. */
VIAL_API const char *vial_result_output(
    const struct vial_result *result, int stream, size_t *len, uint64_t *dropped);

/* What the guest gave to process.exit or process.exitCode, 0 to 255; 0 when it gave nothing, 1 for
 * an exception, -1 when the run did not end by itself. */
VIAL_API int vial_result_exit_code(const struct vial_result *result);

/* The files that the request's outs asked for, ordered by name. A run that did not end by itself
 * has none. */
VIAL_API size_t vial_result_file_count(const struct vial_result *result);
VIAL_API VIAL_NODISCARD int vial_result_file(
    const struct vial_result *result, size_t index, struct vial_file *file);

/* How many files match and are not there: links, devices, too many, too large. */
VIAL_API uint64_t vial_result_files_left_out(const struct vial_result *result);

/* What the program showed beside its value by display(), in that order: up to 100 artifacts with
 * 16 MiB in all, each in one or more representations of different types. docs/artifacts.md has the
 * rules. Those that were shown before a limit struck are here, too. */
struct vial_artifact {
    uint32_t size;
    uint32_t representation_count; /* 1 to 8 */
    const char *name;              /* what the program called it; NULL when it did not */
};
#define VIAL_ARTIFACT_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(struct vial_artifact)                                                       \
    }

struct vial_representation {
    uint32_t size;
    uint32_t reserved;
    const char *mime;  /* "image/png": type and subtype in lower case, no parameters */
    const char *bytes; /* what a guest says to be of that type; nobody has looked into it */
    size_t len;
};
#define VIAL_REPRESENTATION_INIT                                                                   \
    {                                                                                              \
        .size = sizeof(struct vial_representation)                                                 \
    }

VIAL_API size_t vial_result_artifact_count(const struct vial_result *result);
VIAL_API VIAL_NODISCARD int vial_result_artifact(
    const struct vial_result *result, size_t index, struct vial_artifact *artifact);
VIAL_API VIAL_NODISCARD int vial_result_representation(const struct vial_result *result,
    size_t artifact, size_t index, struct vial_representation *representation);

/* How many more the program showed, which were too many or too large. */
VIAL_API uint64_t vial_result_artifacts_dropped(const struct vial_result *result);

/* What the scanner has found in the program and its modules, by position: up to 100, the gravest
 * ones first kept. */
enum vial_severity { VIAL_SEVERITY_INFO = 0, VIAL_SEVERITY_WARN = 1, VIAL_SEVERITY_BLOCK = 2 };

struct vial_finding {
    uint32_t size;
    uint32_t severity;     /* enum vial_severity */
    uint32_t line, column; /* 1-based, in the source as submitted */
    const char *id;        /* of the rule */
    const char *file;      /* the source it is in: the request's name, or a module's */
    const char *text;      /* what was found, its first line; secrets are cut */
    const char *message;   /* what is wrong with it */
    const char *advice;    /* what to write instead */
};
#define VIAL_FINDING_INIT                                                                          \
    {                                                                                              \
        .size = sizeof(struct vial_finding)                                                        \
    }
VIAL_API size_t vial_result_finding_count(const struct vial_result *result);
VIAL_API VIAL_NODISCARD int vial_result_finding(
    const struct vial_result *result, size_t index, struct vial_finding *finding);
VIAL_API const char *vial_severity_name(int severity);

/* Why it is not ok; all NULL or 0 when it is. */
struct vial_result_error {
    uint32_t size;
    uint32_t line;    /* 1-based, in the source as submitted; 0 when unknown */
    uint32_t column;  /* 1-based */
    const char *name; /* "TypeError", "WallLimit", ... */
    const char *message;
    const char *stack;       /* the guest's own frames only */
    const char *source_line; /* the text of that line */
    const char *hint;        /* what to do about it, when there is something to say */
    const char *file;        /* the source that line is in: the request's name, or a module's */
};
#define VIAL_RESULT_ERROR_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(struct vial_result_error)                                                   \
    }
VIAL_API void vial_result_error(const struct vial_result *result, struct vial_result_error *error);

/* Not 0 when the session that this was evaluated in can be used further. */
VIAL_API int vial_result_session_lives(const struct vial_result *result);

/* How a call of a tool ended. */
enum vial_call_status {
    VIAL_CALL_OK = 0,
    VIAL_CALL_FAILED = 1,    /* the tool answered with an error */
    VIAL_CALL_INVALID = 2,   /* the arguments, or the answer, are against the schema or no JSON */
    VIAL_CALL_DENIED = 3,    /* not approved, or not permitted */
    VIAL_CALL_TIMEOUT = 4,   /* no answer in time */
    VIAL_CALL_LIMIT = 5,     /* too many, too large, too many at once */
    VIAL_CALL_CANCELLED = 6, /* the run was over before the answer came */
};

struct vial_call_record {
    uint32_t size;
    uint32_t status; /* enum vial_call_status */
    const char *name;
    const char *reason;   /* why it is not ok; else NULL */
    uint64_t start_us;    /* since the start of the run */
    uint64_t duration_us; /* with waiting for approval */
    uint64_t input_bytes, output_bytes;
    const char *input, *output; /* JSON when recorded, else NULL */
    const char *error;          /* likewise: {"name", "message", "fields"} that the program got */
    /* Of a request to the network, whose name is "fetch": a JSON object with its method, URL
     * without the values of its query, status and rule; else NULL. */
    const char *request;
};
#define VIAL_CALL_RECORD_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(struct vial_call_record)                                                    \
    }

/* Every call, in the order they were made; calls beyond 10,000 are only counted. */
VIAL_API size_t vial_result_call_count(const struct vial_result *result);
VIAL_API VIAL_NODISCARD int vial_result_call(
    const struct vial_result *result, size_t index, struct vial_call_record *record);
VIAL_API const char *vial_call_status_name(int status);

/* What the run used. */
struct vial_usage {
    uint32_t size;
    uint32_t reserved;
    uint64_t wall_us; /* start message to result */
    uint64_t cpu_us;
    uint64_t memory_bytes_peak; /* added to the fresh cell */
    uint64_t queue_us;          /* waiting for a cell */
    uint64_t host_us;           /* spent by the host on this run outside of the guest's wall time */
    uint64_t approval_us;       /* waiting for approval, which is not part of wall_us */
};
#define VIAL_USAGE_INIT                                                                            \
    {                                                                                              \
        .size = sizeof(struct vial_usage)                                                          \
    }
VIAL_API void vial_result_usage(const struct vial_result *result, struct vial_usage *usage);

/* The one result object as JSON text, made on the first call; NULL when there is no memory for it.
 */
VIAL_API const char *vial_result_json(struct vial_result *result, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
