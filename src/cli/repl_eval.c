/* repl_eval.c - one evaluation of `vial repl`, and what is said about it. See repl.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/artifact_args.h"
#include "cli/cli.h"
#include "cli/repl.h"
#include "cli/report.h"
#include "cli/watch.h"

static void stop_session(void *user)
{
    vial_session_cancel(user);
}

/* Passes output on, and notes whether the cursor is at the beginning of a line. */
static void pass_on(int stream, const char *bytes, size_t len, void *user)
{
    struct repl *r = user;

    watch_output(stream, bytes, len, NULL);
    if (len > 0 && (stream == VIAL_STDOUT || r->is_terminal)) {
        r->is_mid_line = bytes[len - 1] != '\n';
    }
}

/* What ended a session, for the sentence "the session was ended by ...". */
static const char *ended_by(int status)
{
    static const char *const words[] = {
        [VIAL_STATUS_WALL_LIMIT] = "its limit of time (--wall-ms)",
        [VIAL_STATUS_CPU_LIMIT] = "its limit of processor time (--cpu-ms)",
        [VIAL_STATUS_MEMORY_LIMIT] = "its memory limit (--memory-mb)",
        [VIAL_STATUS_OUTPUT_LIMIT] = "its limit of output (--stdout-bytes, --stderr-bytes)",
        [VIAL_STATUS_CALL_LIMIT] = "its limit of calls (--calls)",
        [VIAL_STATUS_DENIED] = "a system call that no program makes",
        [VIAL_STATUS_CANCELLED] = "Ctrl-C, since it did not stop by itself",
        [VIAL_STATUS_CRASHED] = "a crash",
    };

    return status >= 0 && (size_t)status < sizeof(words) / sizeof(words[0]) && words[status] != NULL
               ? words[status]
               : "a failure";
}

static int print_value(struct repl *r, struct vial_result *result)
{
    const char *text;
    size_t len = 0;

    text = r->options->json ? vial_result_json(result, &len) : vial_result_text(result, &len);
    if (text == NULL && r->options->json) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the result");
    }
    if (r->is_mid_line && (text != NULL || r->is_terminal)) {
        (void)fputc('\n', stdout);
        r->is_mid_line = 0;
    }
    if (text != NULL) {
        (void)fwrite(text, 1, len, stdout);
        (void)fputc('\n', stdout);
    }
    if (fflush(stdout) != 0) {
        r->has_ended = 1;
        return cli_fail(EXIT_OUR_FAILURE, "cannot write to stdout: %s", strerrordesc_np(errno));
    }
    if (watch_output_errno() != 0) {
        r->has_ended = 1;
        return cli_fail(EXIT_OUR_FAILURE, "output of the program was lost: %s",
            strerrordesc_np(watch_output_errno()));
    }
    return 0;
}

/* Keeps what went well for .save. What does not fit is left out from there on. */
static void keep(struct repl_branch *b, const char *source, size_t len)
{
    size_t before = b->transcript.len;

    if (buf_add(&b->transcript, source, len, NULL) < 0 ||
        (len > 0 && source[len - 1] != '\n' && buf_add(&b->transcript, "\n", 1, NULL) < 0)) {
        b->transcript.len = before;
    }
}

/* Says what became of it. */
static int report(struct repl *r, struct vial_result *result, const char *name)
{
    int status = vial_result_status(result);
    int lives = vial_result_session_lives(result);
    int by_itself = status == VIAL_STATUS_OK || status == VIAL_STATUS_EXCEPTION;
    int code = print_value(r, result);

    if (!r->options->json) {
        if (lives || by_itself) {
            report_error(result, name);
        } else {
            report_error_only(result, name); /* the hint is for programs that hold sessions */
        }
        report_dropped(result);
        artifact_args_list(result);
        artifact_args_dropped(result);
    }
    if (code != 0) {
        return code;
    }
    code = status == VIAL_STATUS_OK ? 0 : report_exit_code(status);
    if (!lives && by_itself) { /* by process.exit */
        r->code = vial_result_exit_code(result);
    }
    if (!lives && (by_itself || ((r->is_terminal || r->options->keep_going) &&
                                    repl_recover(r, ended_by(status)) != 0))) {
        r->has_ended = 1;
    }
    return code;
}

/* vial itself could not evaluate it; the session may have ended by that, or before. */
static int report_failure(struct repl *r, const struct vial_error *err)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    int code = cli_fail_library(err);

    vial_session_info(repl_present(r)->session, &info);
    if (info.state == VIAL_SESSION_ENDED && (r->is_terminal || r->options->keep_going) &&
        repl_recover(r, "a failure") != 0) {
        r->has_ended = 1;
    }
    return code;
}

int repl_eval(struct repl *r, const char *source, size_t len, const char *name)
{
    struct vial_request request = r->request;
    struct repl_branch *b = repl_present(r);
    struct vial_result *result = NULL;
    struct vial_error err;
    int code, done = 0;

    request.source = source;
    request.source_len = len;
    request.name = name;
    request.on_output = r->options->json ? NULL : pass_on;
    request.user = r;
    watch_begin();
    repl_checkpoint(r);
    watch_stops(stop_session, b->session);
    if (!watch_interrupted()) {
        done = vial_session_eval(b->session, &request, &result, &err) == 0 ? 1 : -1;
    }
    watch_stops(NULL, NULL);
    watch_end();
    if (done == 0) {
        code = EXIT_CANCELLED;
    } else if (done < 0) {
        code = report_failure(r, &err);
    } else {
        if (vial_result_status(result) == VIAL_STATUS_OK) {
            keep(b, source, len);
        }
        code = report(r, result, name != NULL ? name : "input");
        if (vial_result_artifact_count(result) > 0) {
            vial_result_free(r->shown);
            r->shown = result;
            result = NULL;
        }
    }
    vial_result_free(result);
    if (watch_interrupted() && !r->is_terminal) {
        r->has_ended = 1;
        r->code = EXIT_CANCELLED;
    }
    watch_forget_interrupt();
    return code;
}

int repl_ask(struct repl *r, const struct vial_request *request, struct vial_result **ret)
{
    struct vial_session *copy = NULL;
    struct vial_error err;
    int status;

    if (vial_session_branch(repl_present(r)->session, 1, &copy, &err) < 0 ||
        vial_session_eval(copy, request, ret, &err) < 0) {
        vial_session_free(copy);
        return cli_fail_library(&err);
    }
    vial_session_free(copy);
    status = vial_result_status(*ret);
    if (status != VIAL_STATUS_OK) {
        vial_result_free(*ret);
        *ret = NULL;
        return cli_fail(
            EXIT_OUR_FAILURE, "the session does not answer: %s", vial_status_name(status));
    }
    return 0;
}
