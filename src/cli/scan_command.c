/* scan_command.c - `vial scan`: what the scanner finds in programs, none of which is run.
 *
 * Each file is read in a cell of its own, like a program that would be run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/scan_args.h"
#include "wire/field.h"

enum {
    SOURCE_BYTES_MAX = 64 * 1024 * 1024, /* as the library has it */
    JSON_BYTES_MAX = 1024 * 1024,        /* of one file: a hundred findings */
    MANY = 4, /* files from which on it pays to compile the rules once for all of them */
};

static const char *const KNOWN[] = {"--json", "--lang", "--rules", "--help", NULL};

struct scan {
    const char **files;
    size_t files_count;
    uint32_t language;
    int json;
    struct scan_args args;
    struct vial_engine *engines[2]; /* for JavaScript and for Python, when there was need for one */
    int has_findings;               /* of severity warn or block */
    size_t printed;
};

static void print_help(void)
{
    (void)printf(
        "usage: vial scan [OPTION]... FILE...\n\n"
        "Looks for dangerous patterns in programs, - for stdin, without running them. The scanner\n"
        "advises; it is the wall that protects. docs/scanner.md has the rules.\n\n"
        "  --json              print one array with an object for each file\n"
        "  --lang js|ts|python what the programs are written in; else known by the files' names\n"
        "  --rules FILE        rules beside ours; may be repeated\n\n"
        "Exit codes: 0 nothing found but information, 1 something of severity warn or block, 2 "
        "usage\n"
        "or rules that cannot be used, 125 failure of vial itself.\n");
}

static int language_of(const char *name, uint32_t *ret)
{
    static const struct {
        const char *name;
        uint32_t language;
    } rows[] = {{"js", VIAL_LANGUAGE_JAVASCRIPT}, {"javascript", VIAL_LANGUAGE_JAVASCRIPT},
        {"ts", VIAL_LANGUAGE_TYPESCRIPT}, {"typescript", VIAL_LANGUAGE_TYPESCRIPT},
        {"py", VIAL_LANGUAGE_PYTHON}, {"python", VIAL_LANGUAGE_PYTHON}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *ret = rows[i].language;
            return 0;
        }
    }
    return cli_fail(EXIT_USAGE, "--lang takes js, ts or python, not \"%s\"", name);
}

static int is_python(const struct scan *s, const char *file)
{
    const char *end = strrchr(file, '.');

    return s->language == VIAL_LANGUAGE_PYTHON ||
           (s->language == VIAL_LANGUAGE_AUTO && end != NULL && strcmp(end, ".py") == 0);
}

static int open_engine(struct scan *s, int python, struct vial_engine **ret)
{
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_error err;

    eo.pool_count = s->files_count < MANY ? 1 : 2;
    eo.quick = s->files_count < MANY;
    eo.no_jit = 1; /* nothing is evaluated */
    eo.language = python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT;
    if (s->engines[python] == NULL && vial_engine_new(&eo, &s->engines[python], &err) < 0) {
        return cli_fail_library(&err);
    }
    *ret = s->engines[python];
    return 0;
}

static void put_finding(struct json_writer *w, const struct vial_finding *f)
{
    json_begin_object(w);
    json_key(w, "id");
    json_text(w, f->id);
    json_key(w, "severity");
    json_text(w, vial_severity_name((int)f->severity));
    json_key(w, "line");
    json_u64(w, f->line);
    json_key(w, "column");
    json_u64(w, f->column);
    json_key(w, "text");
    json_text(w, f->text);
    json_key(w, "message");
    json_text(w, f->message);
    json_key(w, "advice");
    json_text(w, f->advice);
    json_end_object(w);
}

static int print_json(struct scan *s, const struct vial_result *result, const char *file)
{
    struct json_writer w;
    struct buf out;
    size_t count = vial_result_finding_count(result);

    buf_init(&out, JSON_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "file");
    json_text(&w, file);
    json_key(&w, "findings");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        struct vial_finding f = VIAL_FINDING_INIT;

        if (vial_result_finding(result, i, &f) == 0) {
            put_finding(&w, &f);
        }
    }
    json_end_array(&w);
    json_end_object(&w);
    if (json_finish(&w) < 0) {
        buf_release(&out);
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the findings");
    }
    (void)printf("%s%s", s->printed++ > 0 ? ",\n" : "[", out.data);
    buf_release(&out);
    return 0;
}

static int report(struct scan *s, const struct vial_result *result, const char *file)
{
    size_t count = vial_result_finding_count(result);

    if (vial_result_status(result) != VIAL_STATUS_OK) {
        report_error(result, file);
        return report_is_about_rules(result) ? EXIT_USAGE
                                             : report_exit_code(vial_result_status(result));
    }
    for (size_t i = 0; i < count; i++) {
        struct vial_finding f = VIAL_FINDING_INIT;

        if (vial_result_finding(result, i, &f) == 0 && f.severity >= VIAL_SEVERITY_WARN) {
            s->has_findings = 1;
        }
    }
    if (s->json) {
        return print_json(s, result, file);
    }
    report_findings(stdout, result);
    return 0;
}

static int scan_one(struct scan *s, const char *file)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine *engine = NULL;
    struct vial_result *result = NULL;
    struct vial_error err;
    char *source = NULL;
    int code = cli_read_file(file, SOURCE_BYTES_MAX, "a program", &source, &request.source_len);

    code = code != 0 ? code : open_engine(s, is_python(s, file), &engine);
    if (code != 0) {
        free(source);
        return code;
    }
    request.source = source;
    request.name = strcmp(file, "-") == 0 ? "[stdin]" : file;
    request.language = s->language;
    request.scan = VIAL_SCAN_ONLY;
    request.scan_rules = s->args.rules;
    request.scan_rules_count = (uint32_t)s->args.count;
    if (vial_run(engine, &request, &result, &err) < 0) {
        code = cli_fail_library(&err);
    } else {
        code = report(s, result, request.name);
    }
    vial_result_free(result);
    free(source);
    return code;
}

static int scan_all(struct scan *s)
{
    int code = 0;

    for (size_t i = 0; i < s->files_count && code == 0; i++) {
        code = scan_one(s, s->files[i]);
    }
    /* What there was up to a file that cannot be scanned is a whole document, too. */
    if (s->json) {
        (void)printf("%s]\n", s->printed == 0 ? "[" : "");
    }
    if (code == 0 && fflush(stdout) != 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "cannot write to stdout: %s", strerrordesc_np(errno));
    }
    vial_engine_free(s->engines[0]);
    vial_engine_free(s->engines[1]);
    return code != 0 ? code : s->has_findings ? EXIT_FINDINGS : EXIT_FINE;
}

static int parse(struct scan *s, int argc, char **argv)
{
    struct cli_args a;
    const char *value;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            s->files[s->files_count++] = a.word;
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return -1;
        } else if (strcmp(a.option, "--json") == 0) {
            s->json = 1;
            code = cli_args_plain(&a, "scan");
        } else if (strcmp(a.option, "--lang") == 0) {
            value = cli_args_value(&a, "scan");
            code = value != NULL ? language_of(value, &s->language) : EXIT_USAGE;
        } else if (strcmp(a.option, "--rules") == 0) {
            code = scan_args_take(&s->args, &a, "scan");
        } else {
            code = cli_unknown_option("scan", a.option, KNOWN);
        }
    }
    return code == 0 && s->files_count == 0
               ? cli_fail(EXIT_USAGE, "give programs: vial scan FILE..., or - for stdin")
               : code;
}

int cmd_scan(int argc, char **argv)
{
    struct scan s = {.files = calloc((size_t)argc + 1, sizeof(char *))};
    int code;

    if (s.files == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the names of files");
    }
    code = parse(&s, argc, argv);
    if (code == 0) {
        code = scan_all(&s);
    }
    scan_args_release(&s.args);
    free(s.files);
    return code < 0 ? EXIT_FINE : code;
}
