/* session_files.c - /v1/sessions/{id}/files: files of a session. They are in the memory of its
 * process, so each of these is a small evaluation in it. Reading takes what an evaluation gives
 * back; writing and deleting is a line of the session's own language. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/name.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"
#include "http/session.h"

enum { LIST_BYTES_MAX = 16 << 20, LINE_BYTES_MAX = 1 << 30 }; /* bodies are bounded before */

static void put_download(struct exchange *x, const struct vial_result *result)
{
    struct vial_file file;
    size_t i, count = vial_result_file_count(result);
    char *copy;

    for (i = 0; i < count; i++) {
        if (vial_result_file(result, i, &file) == 0 && strcmp(file.name, x->params[1]) == 0) {
            copy = malloc(file.len + 1);
            if (copy == NULL) {
                answer_problem(x, PROBLEM_INTERNAL, "out of memory");
                return;
            }
            memcpy(copy, file.bytes, file.len);
            answer_bytes(x, 200, "application/octet-stream", copy, file.len);
            answer_header(x, "Content-Security-Policy", "sandbox; default-src 'none'");
            answer_header(x, "Content-Disposition", "attachment");
            return;
        }
    }
    answer_problem(x, PROBLEM_NOT_FOUND, "the session has no such file");
}

static void put_list(struct exchange *x, const struct vial_result *result)
{
    struct vial_file file;
    size_t i, count = vial_result_file_count(result);
    struct json_writer w;
    struct buf out;

    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        if (vial_result_file(result, i, &file) == 0) {
            json_begin_object(&w);
            json_key(&w, "name");
            json_text(&w, file.name);
            json_key(&w, "size");
            json_u64(&w, file.len);
            json_end_object(&w);
        }
    }
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_write_null(&w);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
}

static void on_end(struct run *run, void *user)
{
    struct exchange *x = user;
    struct session *s = run->session;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;

    s->run = NULL;
    s->file_evals += run->result != NULL;
    vial_session_info(s->handle, &info);
    if (info.state == VIAL_SESSION_ENDED) {
        session_end(s, info.ended);
    }
    x->on_gone = NULL;
    if (run->r < 0) {
        answer_problem(x, run->problem, "%s", run->err.text);
    } else if (run->result == NULL || vial_result_status(run->result) != VIAL_STATUS_OK) {
        if (run->result != NULL) {
            vial_result_error(run->result, &error);
        }
        answer_problem(
            x, PROBLEM_INVALID, "%s", error.message != NULL ? error.message : run->status);
    } else if (strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0) {
        (x->params[1] != NULL ? put_download : put_list)(x, run->result);
    } else {
        answer_empty(x, 204);
    }
    exchange_wake(x);
}

/* Evaluates a line, which is taken, for the exchange. */
static void evaluate(struct session *s, struct exchange *x, char *code, const char *out_pattern)
{
    struct vial_error err;
    struct run *run = run_new(x->server, &x->caller, &err);
    const char **outs;

    if (run == NULL || code == NULL) {
        free(code);
        run_unref(run);
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    run->spec.body = code;
    run->spec.request.source = code;
    run->spec.request.source_len = strlen(code);
    run->spec.request.language = s->base->language;
    run->spec.request.name = "[files]";
    outs = run_spec_alloc(&run->spec, sizeof(*outs));
    if (outs != NULL && out_pattern != NULL) {
        char *copy = run_spec_alloc(&run->spec, strlen(out_pattern) + 1);

        if (copy != NULL) {
            memcpy(copy, out_pattern, strlen(out_pattern) + 1);
            outs[0] = copy;
            run->spec.request.outs = outs;
            run->spec.request.outs_count = 1;
        }
    }
    run->is_quiet = 1;
    run->session = session_ref(s);
    run->on_end = on_end;
    run->on_end_user = x;
    s->run = run;
    if (run_submit(run, x) < 0) {
        s->run = NULL;
    } else {
        exchange_wait(x);
    }
    run_unref(run);
}

/* The name in the path: 0, or -1 with an answer. */
static int check_name(struct exchange *x)
{
    const char *fault = name_fault(x->params[1], strlen(x->params[1]));

    if (fault != NULL) {
        answer_problem(x, PROBLEM_INVALID, "the name %s", fault);
        return -1;
    }
    return 0;
}

/* The name as a pattern that means only it. */
static int escape(const char *name, char out[GLOB_BYTES_MAX + 1])
{
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (n + 2 > GLOB_BYTES_MAX) {
            return -1;
        }
        if (strchr("*?[]\\", *name) != NULL) {
            out[n++] = '\\';
        }
        out[n++] = *name;
    }
    out[n] = '\0';
    return 0;
}

void sessions_file_list(struct exchange *x)
{
    struct session *s = session_of(x);

    if (s != NULL) {
        evaluate(s, x, strdup("0"), "**");
    }
}

void sessions_file_get(struct exchange *x)
{
    char pattern[GLOB_BYTES_MAX + 1];
    struct session *s = session_of(x);

    if (s == NULL || check_name(x) < 0) {
        return;
    }
    if (escape(x->params[1], pattern) < 0) {
        answer_problem(x, PROBLEM_INVALID, "the name is too long");
        return;
    }
    evaluate(s, x, strdup("0"), pattern);
}

/* The line that writes or deletes, in the session's language; texts are quoted as JSON, which both
 * languages read. */
static char *line_of(const struct session *s, const char *name, const char *encoded, size_t len)
{
    static const char *const js[] = {"(n=>{const f=require('node:fs'),p=require('node:path');"
                                     "f.mkdirSync(p.dirname(n),{recursive:true});"
                                     "f.writeFileSync(n,Buffer.from(",
        ",'base64'));return true})(", "(n=>{require('node:fs').unlinkSync(n);return true})("};
    static const char *const py[] = {"(lambda n:(__import__('os').makedirs(__import__('os').path."
                                     "dirname(n),exist_ok=True),open(n,'wb').write(__import__("
                                     "'base64').b64decode(",
        ")),True)[2])(", "(lambda n:(__import__('os').unlink(n),True)[1])("};
    const char *const *words = s->base->language == VIAL_LANGUAGE_PYTHON ? py : js;
    char path[FILE_NAME_BYTES_MAX + sizeof(FILE_NAME_ROOT) + 1];
    struct json_writer w;
    struct buf out;
    char *text = NULL;
    size_t text_len;
    int r;

    (void)snprintf(path, sizeof(path), FILE_NAME_ROOT "/%s", name);
    buf_init(&out, LINE_BYTES_MAX);
    r = buf_add_text(&out, words[encoded != NULL ? 0 : 2], NULL);
    if (r == 0 && encoded != NULL) {
        r = buf_add_text(&out, "\"", NULL);
        r = r < 0 ? r : buf_add(&out, encoded, len, NULL);
        r = r < 0 ? r : buf_add_text(&out, "\"", NULL);
        r = r < 0 ? r : buf_add_text(&out, words[1], NULL);
    }
    if (r == 0) {
        json_init(&w, &out, NULL);
        json_text(&w, path);
        r = json_finish(&w);
    }
    r = r < 0 ? r : buf_add_text(&out, ")", NULL);
    r = r < 0 ? r : buf_take(&out, &text, &text_len, NULL);
    buf_release(&out);
    return r < 0 ? NULL : text;
}

void sessions_file_put(struct exchange *x)
{
    struct session *s = session_of(x);
    char *encoded;

    if (s == NULL || check_name(x) < 0) {
        return;
    }
    encoded = malloc(BASE64_ENCODED_BYTES(x->body.len) + 1);
    if (encoded == NULL) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    base64_encode(x->body.data != NULL ? x->body.data : "", x->body.len, encoded);
    evaluate(s, x, line_of(s, x->params[1], encoded, BASE64_ENCODED_BYTES(x->body.len)), NULL);
    free(encoded);
}

void sessions_file_delete(struct exchange *x)
{
    struct session *s = session_of(x);

    if (s != NULL && check_name(x) == 0) {
        evaluate(s, x, line_of(s, x->params[1], NULL, 0), NULL);
    }
}
