/* run.c - `vial run`: one program, its output passed on as it comes, its value printed last. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/artifact_args.h"
#include "cli/cli.h"
#include "cli/file_args.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/run_options.h"
#include "cli/watch.h"

enum {
    /* As the library has them. */
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
    INPUT_BYTES_MAX = 128 * 1024 * 1024,
};

/* Stores the outputs, and says what is missing of them. 0, or an exit code. */
static int keep_files(const struct vial_result *result, const struct run_options *o)
{
    uint64_t left = vial_result_files_left_out(result);

    if (o->outs_count == 0) {
        return 0;
    }
    if (vial_result_exit_code(result) < 0) {
        (void)fprintf(stderr, "vial: no files came back, because the run did not end by itself\n");
    } else if (vial_result_file_count(result) == 0) {
        (void)fprintf(stderr, "vial: no file matches what --out asks for\n");
    }
    if (left > 0) {
        (void)fprintf(stderr,
            "vial: %llu files were left out (links, special files, too many or too large); "
            "--json says which kinds\n",
            (unsigned long long)left);
    }
    return file_args_write(result, o->out_fd, o->out_dir != NULL ? o->out_dir : ".", o->force);
}

/* Stores the artifacts, or says that there are some. 0, or an exit code. */
static int keep_artifacts(const struct vial_result *result, const struct run_options *o)
{
    int code = 0;

    if (o->out_dir != NULL) {
        code = artifact_args_save(result, o->out_fd, o->out_dir, o->force);
    } else if (!o->json) {
        artifact_args_hint(result);
    }
    if (!o->json) {
        artifact_args_dropped(result);
    }
    return code;
}

static int report(struct vial_result *result, const struct run_options *o, const char *name)
{
    const char *text;
    size_t len;
    int code, saved, status = vial_result_status(result);

    code = keep_files(result, o); /* first: who reads our output may have gone */
    saved = keep_artifacts(result, o);
    code = code != 0 ? code : saved;
    if (o->json) {
        text = vial_result_json(result, &len);
        if (text == NULL) {
            return cli_fail(EXIT_OUR_FAILURE, "no memory for the result");
        }
        (void)fwrite(text, 1, len, stdout);
        (void)fputc('\n', stdout);
    } else {
        text = vial_result_text(result, &len);
        if (text != NULL) {
            (void)fwrite(text, 1, len, stdout);
            (void)fputc('\n', stdout);
        }
        report_findings(stderr, result);
        report_error(result, name);
        report_dropped(result);
    }
    if (fflush(stdout) != 0) {
        return cli_fail(EXIT_OUR_FAILURE, "cannot write to stdout: %s", strerrordesc_np(errno));
    }
    if (watch_output_errno() != 0) {
        return cli_fail(EXIT_OUR_FAILURE, "output of the program was lost: %s",
            strerrordesc_np(watch_output_errno()));
    }
    if (code != 0) {
        return code;
    }
    if (report_is_about_rules(result)) {
        return EXIT_USAGE;
    }
    return status == VIAL_STATUS_OK ? vial_result_exit_code(result) : report_exit_code(status);
}

static void stop_run(void *user)
{
    vial_run_cancel(user);
}

/* What the program is written in: the cells for that are made ready. */
static uint32_t language_of(const struct vial_request *request)
{
    const char *end = strrchr(request->name, '.');
    int is_python =
        request->language == VIAL_LANGUAGE_PYTHON ||
        (request->language == VIAL_LANGUAGE_AUTO && end != NULL && strcmp(end, ".py") == 0);

    return is_python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT;
}

static int execute(struct run_options *o, struct vial_request *request)
{
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine = NULL;
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    struct vial_error err;
    int r, code;

    eo.pool_count = 1;
    eo.runs_max = 1;
    eo.quick = 1;
    eo.no_jit = (uint32_t)o->no_jit;
    eo.for_sessions = (uint32_t)run_env_is_wanted(&o->env_options);
    eo.language =
        run_env_is_python(&o->env_options) ? (uint32_t)VIAL_LANGUAGE_PYTHON : language_of(request);
    eo.require = o->require[0] != '\0' ? o->require : NULL;
    run_env_offer_secrets(&o->env_options, &eo);
    watch_begin();
    r = vial_engine_new(&eo, &engine, &err);
    if (r < 0 || watch_interrupted()) {
        watch_end();
        vial_engine_free(engine);
        return watch_interrupted() ? EXIT_CANCELLED : cli_fail_library(&err);
    }
    if (strcmp(vial_engine_level(engine), "filtered") == 0) {
        (void)fprintf(stderr,
            "vial: warning: no user namespaces here, so isolation is only \"filtered\"; "
            "--require rootless refuses this, `vial doctor` says more\n");
    }
    code = run_env_open(&o->env_options, engine, request);
    if (code != 0) {
        watch_end();
        vial_engine_free(engine);
        return code;
    }
    r = vial_run_start(engine, request, &run, &err);
    if (r == 0) {
        watch_stops(stop_run, run);
        r = vial_run_wait(run, &result, &err);
        watch_stops(NULL, NULL);
        vial_run_free(run);
    }
    watch_end();
    if (r < 0) {
        code = cli_fail_library(&err);
    } else {
        code = report(result, o, request->name);
        if (o->env_options.record != NULL) {
            r = record_write(o->env_options.record, request, &o->env_options, o->no_jit, result);
            code = code != 0 ? code : r;
        }
        vial_result_free(result);
    }
    run_env_close(&o->env_options);
    vial_engine_free(engine);
    return code;
}

/* Reads the files and fills in what the request has of them. 0, or an exit code. */
static int take_files(struct run_options *o, struct file_args *files, struct vial_request *request)
{
    struct vial_limits limits = o->limits;
    struct vial_error err;
    size_t i;
    int code = vial_limits_resolve(&limits, &err) < 0 ? cli_fail_library(&err) : 0;

    for (i = 0; i < o->file_specs_count && code == 0; i++) {
        code = file_args_read(files, o->file_specs[i], &limits);
    }
    if (code == 0 && (o->outs_count > 0 || o->out_dir != NULL)) {
        o->out_fd = open(o->out_dir != NULL ? o->out_dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (o->out_fd < 0) {
            code = cli_fail(EXIT_USAGE, "--out-dir %s: %s", o->out_dir != NULL ? o->out_dir : ".",
                strerrordesc_np(errno));
        }
    }
    if (code == 0 && files->skipped > 0) {
        (void)fprintf(
            stderr, "vial: %u links or special files were not taken along\n", files->skipped);
    }
    request->files = files->items;
    request->files_count = files->count;
    request->outs = o->outs;
    request->outs_count = o->outs_count;
    request->env = o->env;
    request->env_count = o->env_count;
    request->args = o->args;
    request->args_count = o->args_count;
    request->cwd = o->cwd;
    request->files_mode = (uint32_t)o->files_mode;
    return code;
}

int cmd_run(int argc, char **argv)
{
    static struct run_options o = {.limits = VIAL_LIMITS_INIT, .out_fd = -1};
    struct vial_request request = VIAL_REQUEST_INIT;
    struct file_args files = {.count = 0};
    struct buf net = {.max = NET_ARGS_BYTES_MAX};
    char *source = NULL, *input = NULL, *stdin_bytes = NULL;
    size_t source_len = 0, input_len = 0, stdin_len = 0;
    int code = run_options_parse(&o, argc, argv);

    if (code != 0) {
        run_options_release(&o);
        return code < 0 ? EXIT_FINE : code;
    }
    if (o.file != NULL) {
        code = cli_read_file(o.file, SOURCE_BYTES_MAX, "a program", &source, &source_len);
    }
    if (code == 0 && (o.input_file != NULL || o.input_cbor != NULL)) {
        code = cli_read_file(o.input_file != NULL ? o.input_file : o.input_cbor, INPUT_BYTES_MAX,
            "an input", &input, &input_len);
    }
    if (code == 0 && o.stdin_file != NULL) {
        code = cli_read_file(
            o.stdin_file, PROCESS_STDIN_BYTES_MAX, "standard input", &stdin_bytes, &stdin_len);
    }
    code = code != 0 ? code : take_files(&o, &files, &request);
    code = code != 0 ? code : net_args_write(&o.net, &net);
    if (code == 0) {
        request.stdin_bytes = stdin_bytes;
        request.stdin_len = stdin_len;
        request.source = o.code != NULL ? o.code : source;
        request.source_len = o.code != NULL ? strlen(o.code) : source_len;
        request.name = o.file == NULL                 ? "[eval]"
                       : run_options_is_stdin(o.file) ? "[stdin]"
                                                      : o.file;
        request.input_is_cbor = o.input_cbor != NULL;
        request.input = o.input != NULL ? o.input : input;
        request.input_len = o.input != NULL ? strlen(o.input) : input_len;
        request.modules = o.modules;
        request.module_count = o.module_count;
        request.kind = o.kind;
        request.limits = &o.limits;
        request.want_text = !o.json;
        request.language = (uint32_t)run_options_language(&o);
        request.on_output = o.json ? NULL : watch_output;
        request.scan = o.scan.mode;
        request.scan_rules = o.scan.rules;
        request.scan_rules_count = (uint32_t)o.scan.count;
        request.net = net.data;
        request.net_len = net.len;
        code = run_options_check(&o, &request);
    }
    o.env_options.for_python = code == 0 && language_of(&request) == VIAL_LANGUAGE_PYTHON;
    code = code != 0 ? code : run_env_prepare(&o.env_options);
    if (code == 0) {
        code = execute(&o, &request);
    }
    run_env_release(&o.env_options);
    file_args_release(&files);
    free(source);
    free(input);
    free(stdin_bytes);
    buf_release(&net);
    run_options_release(&o);
    return code;
}
