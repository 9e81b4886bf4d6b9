/* repl.c - `vial repl`: programs typed in or piped in, one after the other, in one session. */
#include "cli/repl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/line_editor.h"
#include "cli/watch.h"
#include "code/incomplete.h"

enum {
    WEEK_MS = 7 * 24 * 3600 * 1000, /* the longest that a session may rest: people take breaks */
    READ_BYTES = 65536,
    /* Whether an input is complete is found out from its beginning on. One that is longer than this
     * is asked about only where a line begins at the margin, so that a table of a million lines
     * does not take hours. */
    ASK_ALWAYS_BYTES = 65536,
};

/* ---- lines ---- */

/* What came from a pipe and is not yet a line. */
struct piped {
    struct buf bytes;
    size_t line_len; /* of the line given last, which is still at the beginning of bytes */
    int at_end;
};

/* The next line, with its end: 1, or 0 when there is none, or minus an exit code. */
static int read_piped(struct piped *p, const char **ret, size_t *ret_len)
{
    const char *newline;
    size_t looked = 0;
    ssize_t n;

    buf_consume(&p->bytes, p->line_len);
    p->line_len = 0;
    for (;;) {
        newline = p->bytes.len > looked
                      ? memchr(p->bytes.data + looked, '\n', p->bytes.len - looked)
                      : NULL;
        if (newline != NULL || (p->at_end && p->bytes.len > 0)) {
            p->line_len = newline != NULL ? (size_t)(newline - p->bytes.data) + 1 : p->bytes.len;
            *ret = p->bytes.data;
            *ret_len = p->line_len;
            return 1;
        }
        if (p->at_end) {
            return 0;
        }
        looked = p->bytes.len;
        if (looked > REPL_INPUT_BYTES_MAX || buf_reserve(&p->bytes, READ_BYTES, NULL) < 0) {
            return -cli_fail(EXIT_USAGE,
                "a line has more than %d bytes; give long programs to `vial run`",
                REPL_INPUT_BYTES_MAX);
        }
        n = read(0, p->bytes.data + looked, READ_BYTES); /* short counts handled */
        if (n < 0 && (errno != EINTR || watch_interrupted())) {
            return watch_interrupted() ? -EXIT_CANCELLED
                                       : -cli_fail(EXIT_OUR_FAILURE, "cannot read stdin: %s",
                                             strerrordesc_np(errno));
        }
        p->bytes.len += n > 0 ? (size_t)n : 0;
        p->bytes.data[p->bytes.len] = '\0';
        p->at_end = n == 0;
    }
}

static int is_blank(const struct buf *input)
{
    return input->len == 0 || strspn(input->data, " \t\r\n") == input->len;
}

/* Is this input whole, as far as one looks? */
static int is_whole(const struct repl *r, const struct buf *input, const char *line)
{
    if (input->len > ASK_ALWAYS_BYTES && (line[0] == ' ' || line[0] == '\t')) {
        return 0;
    }
    if (r->is_python) {
        return !python_is_incomplete(input->data, input->len);
    }
    return !session_is_incomplete(input->data, input->len);
}

/* How long it is without the ends of lines behind it. */
static size_t trimmed_len(const struct buf *input)
{
    size_t len = input->len;

    while (len > 0 && input->data[len - 1] == '\n') {
        len--;
    }
    return len;
}

/* Adds a line to the input, and evaluates that when it is whole. An empty line means something in
 * Python, so there a line has its end. 0, or an exit code. */
static int take_line(struct repl *r, struct buf *input, const char *line, size_t len)
{
    int code;

    if (memchr(line, '\0', len) != NULL) {
        buf_clear(input);
        return cli_fail(EXIT_USAGE, "there is a NUL in this line");
    }
    if (input->len + len >= REPL_INPUT_BYTES_MAX || buf_add(input, line, len, NULL) < 0 ||
        (r->is_python && r->is_terminal && buf_add_text(input, "\n", NULL) < 0)) {
        buf_clear(input);
        return cli_fail(EXIT_USAGE,
            "an input may have up to %d bytes; .load a file, or give it to `vial run`",
            REPL_INPUT_BYTES_MAX);
    }
    if (is_blank(input)) {
        buf_clear(input);
        return 0;
    }
    if (!is_whole(r, input, line)) {
        return 0;
    }
    if (r->is_terminal) {
        line_editor_remember(input->data, trimmed_len(input));
    }
    code = repl_eval(r, input->data, input->len, NULL);
    buf_clear(input);
    return code;
}

static void note_failure(struct repl *r, int code)
{
    r->failure = r->failure != 0 ? r->failure : code;
    r->has_ended |= code != 0 && !r->is_terminal && !r->options->keep_going;
}

static void serve_pipe(struct repl *r)
{
    struct piped p = {.line_len = 0};
    struct buf input;
    const char *line = "";
    size_t len = 0;
    int n = 1;

    buf_init(&p.bytes, REPL_INPUT_BYTES_MAX + 2 * READ_BYTES);
    buf_init(&input, REPL_INPUT_BYTES_MAX);
    while (!r->has_ended && (n = read_piped(&p, &line, &len)) > 0) {
        if (r->is_python && python_begins_anew(input.data, input.len, line, len)) {
            note_failure(r, repl_eval(r, input.data, input.len, NULL));
            buf_clear(&input);
        }
        if (r->has_ended) {
            break;
        }
        if (input.len == 0 && repl_is_command(line, len)) {
            note_failure(r, repl_command(r, line, len));
        } else {
            note_failure(r, take_line(r, &input, line, len));
        }
    }
    if (n < 0) {
        note_failure(r, -n);
    } else if (!r->has_ended && input.len > 0) { /* its end was not in sight; the engine says why */
        note_failure(r, repl_eval(r, input.data, input.len, NULL));
    }
    buf_release(&p.bytes);
    buf_release(&input);
}

/* ---- at a terminal ---- */

static void make_prompt(struct repl *r, int is_first, char *text, size_t size)
{
    const char *name = repl_present(r)->name;
    int width = (int)strlen(name) + 1;

    if (is_first) {
        (void)snprintf(text, size, "%s> ", name);
    } else {
        (void)snprintf(text, size, "%*s ", width > 3 ? width : 3, "...");
    }
}

/* Ctrl-C: gives up the input, and the second time on an empty one everything. */
static void on_interrupt(struct repl *r, struct buf *input, size_t len, int *count)
{
    *count = input->len + len == 0 ? *count + 1 : 0;
    buf_clear(input);
    r->has_ended |= *count > 1;
    if (*count == 1) {
        repl_note(r, "Ctrl-C once more or Ctrl-D ends; .help says what there is.");
    }
}

/* One line of somebody at a terminal. */
static void take_typed(struct repl *r, struct buf *input, const char *line, size_t len)
{
    if (input->len == 0 && repl_is_command(line, len)) {
        line_editor_remember(line, len);
        (void)repl_command(r, line, len);
        return;
    }
    if (input->len > 0 && !r->is_python && buf_add_text(input, "\n", NULL) < 0) {
        buf_clear(input);
    }
    (void)take_line(r, input, line, len);
}

static void serve_terminal(struct repl *r)
{
    char prompt[REPL_NAME_BYTES_MAX + 8];
    struct buf input;
    const char *line = "";
    size_t len = 0;
    int interrupts = 0;

    (void)line_editor_open(repl_complete, r);
    buf_init(&input, REPL_INPUT_BYTES_MAX);
    repl_note(r,
        "vial %s, in a process of its own (isolation: %s). .help lists commands, Ctrl-D ends.",
        vial_version(), vial_engine_level(r->engine));
    while (!r->has_ended) {
        make_prompt(r, input.len == 0, prompt, sizeof(prompt));
        switch (line_editor_read(prompt, &line, &len)) {
        case LINE_TEXT:
            interrupts = 0;
            take_typed(r, &input, line, len);
            break;
        case LINE_INTERRUPTED:
            on_interrupt(r, &input, len, &interrupts);
            break;
        case LINE_END:
            r->has_ended = 1;
            (void)putchar('\n');
            break;
        case LINE_TERMINATED:
            r->has_ended = 1;
            r->code = EXIT_CANCELLED;
            (void)putchar('\n');
            break;
        }
    }
    buf_release(&input);
    line_editor_close();
}

/* ---- */

static int start_engine(struct repl *r, struct run_env *env)
{
    const struct repl_options *o = r->options;
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_error err;
    int failed;

    eo.pool_count = 1;
    eo.runs_max = 1;
    eo.quick = 1;
    eo.for_sessions = 1;
    eo.sessions_max = REPL_SESSIONS_MAX;
    eo.no_jit = (uint32_t)o->no_jit;
    r->is_python = (o->language != NULL &&
                       (strcmp(o->language, "python") == 0 || strcmp(o->language, "py") == 0)) ||
                   run_env_is_python(&o->env);
    eo.language = r->is_python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT;
    eo.require = o->require;
    run_env_offer_secrets(env, &eo);
    watch_begin();
    failed = vial_engine_new(&eo, &r->engine, &err) < 0;
    watch_end();
    if (failed || watch_interrupted()) {
        return watch_interrupted() ? EXIT_CANCELLED : cli_fail_library(&err);
    }
    if (strcmp(vial_engine_level(r->engine), "filtered") == 0) {
        (void)fprintf(stderr,
            "vial: warning: no user namespaces here, so isolation is only \"filtered\"; "
            "--require rootless refuses this, `vial doctor` says more\n");
    }
    return 0;
}

/* With an engine: the environment, the first session, and all that is read. */
static int serve(struct repl *r, struct repl_options *o)
{
    int code = run_env_open(&o->env, r->engine, &r->request);

    r->session_options = (struct vial_session_options){.size = sizeof(r->session_options),
        .idle_ms_max = WEEK_MS,
        .life_ms_max = WEEK_MS,
        .environment = r->request.environment,
        .globals = r->request.globals,
        .globals_len = r->request.globals_len,
        .permissions = r->request.permissions,
        .permissions_len = r->request.permissions_len,
        .language = r->is_python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT,
        .limits = &o->limits};
    r->request.environment = NULL; /* they are the session's */
    r->request.globals = NULL;
    r->request.globals_len = 0;
    r->request.permissions = NULL;
    r->request.permissions_len = 0;
    r->request.want_text = !o->json;
    r->request.language = r->is_python                     ? VIAL_LANGUAGE_PYTHON
                          : o->language == NULL            ? VIAL_LANGUAGE_AUTO
                          : strcmp(o->language, "ts") == 0 ? VIAL_LANGUAGE_TYPESCRIPT
                                                           : VIAL_LANGUAGE_JAVASCRIPT;
    code = code != 0 ? code : repl_branches_open(r);
    if (code == 0) {
        if (r->is_terminal) {
            serve_terminal(r);
        } else {
            serve_pipe(r);
        }
        code = r->failure != 0 && !r->is_terminal ? r->failure : r->code;
    }
    vial_result_free(r->shown);
    repl_branches_close(r);
    run_env_close(&o->env);
    return code;
}

int cmd_repl(int argc, char **argv)
{
    static struct repl_options o = {.limits = VIAL_LIMITS_INIT};
    static struct repl r = {.options = &o, .request = VIAL_REQUEST_INIT};
    struct vial_limits limits;
    struct vial_error err;
    int code = repl_options_parse(&o, argc, argv);

    if (code != 0) {
        return code < 0 ? EXIT_FINE : code;
    }
    limits = o.limits;
    if (vial_limits_resolve(&limits, &err) < 0) {
        return cli_fail_library(&err);
    }
    r.is_terminal = isatty(0) && isatty(1);
    r.keeps_checkpoints = !o.no_checkpoints && (r.is_terminal || o.keep_going);
    code = run_env_prepare(&o.env);
    code = code != 0 ? code : start_engine(&r, &o.env);
    code = code != 0 ? code : serve(&r, &o);
    vial_engine_free(r.engine);
    run_env_release(&o.env);
    return code;
}
