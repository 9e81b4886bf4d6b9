/* run.c - `vial run`: one program, its output passed on as it comes, its value printed last. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/file_args.h"
#include "code/specifier.h"
#include "jail/layer.h"
#include "policy/limits.h"
#include "policy/process.h"

enum {
    /* As the library has them. */
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
    INPUT_BYTES_MAX = 128 * 1024 * 1024,
    INPUT_DEPTH_MAX = 512,
    NAME_BYTES_MAX = 1024,

    REQUIRE_BYTES_MAX = 512,
};

struct run_options {
    const char *file, *code, *input, *input_file, *input_cbor;
    char require[REQUIRE_BYTES_MAX];
    struct vial_module *modules; /* names and sources are ours, see free_modules */
    size_t module_count;
    uint32_t kind;
    struct vial_limits limits;
    int json, no_jit;
    /* Files and the process; the lists are as long as the library takes them. */
    const char *file_specs[PROCESS_STRINGS_MAX], *outs[GLOBS_MAX];
    const char *env[PROCESS_STRINGS_MAX], *args[PROCESS_STRINGS_MAX];
    size_t file_specs_count, outs_count, env_count, args_count;
    const char *cwd, *stdin_file, *out_dir;
    int force, files_mode;
    int out_fd; /* of out_dir, when there are outs */
    const char *language;
};

static const char *const KNOWN[] = {"-e", "--eval", "--input", "--input-cbor", "--input-file",
    "--json", "--no-jit", "--module", "--script", "--module-file", "--require", "--lang", "--help",
    "--wall-ms", "--cpu-ms", "--timers", "--memory-mb", "--stdout-bytes", "--stderr-bytes",
    "--value-bytes", "--disk-mb", "--file-count", "--open-files", "--file", "--out", "--out-dir",
    "--force", "--env", "--cwd", "--stdin", "--files", "--no-files", NULL};

static void print_help(void)
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);

    (void)printf(
        "usage: vial run [OPTION]... FILE [-- ARG...]\n"
        "       vial run [OPTION]... -e CODE [-- ARG...]\n"
        "       vial run [OPTION]... - [-- ARG...] < FILE\n\n"
        "Runs a JavaScript program in a fresh confined process. What it prints is passed on as it\n"
        "comes; its value (of __return(v), or of the last expression, promises awaited) is "
        "printed\n"
        "last. All that vial itself says goes to stderr.\n\n"
        "  -e, --eval CODE     run CODE\n"
        "  --input JSON        the program's global `input`\n"
        "  --input-file FILE   the same from a file, - for stdin\n"
        "  --input-cbor FILE   the same as CBOR, for values that JSON does not have\n"
        "  --module-file NAME=FILE   a module that the program may import as NAME; may be "
        "repeated\n"
        "  --module, --script  what the program is; by default a module when it has import or "
        "export\n"
        "  --lang js|ts        what the program is written in; else TypeScript is known by the\n"
        "                      file's name (.ts, .mts, .cts) or by its types\n"
        "  --json              print one result object instead of the value\n"
        "  --require LAYERS    refuse to run unless these hold (vial doctor lists them; also "
        "full,\n"
        "                      rootless, landlock>=N); separated by commas, may be repeated\n"
        "  --no-jit            interpret only: a smaller surface at a tenth of the speed\n\n"
        "Files and the process. The program's own directory is /home/vial; it is gone with the "
        "run.\n\n"
        "  --file SRC[:DST]    give it a file, or a directory with its files; may be repeated\n"
        "  --out GLOB          take files back that match (* ? [..] **); may be repeated\n"
        "  --out-dir DIR       where they go; the current directory unless given\n"
        "  --force             overwrite what is there\n"
        "  --env NAME=VALUE    a variable of process.env, which has no others; may be repeated\n"
        "  --cwd DIR           the working directory, inside of /home/vial\n"
        "  --stdin FILE        its standard input, - for ours; empty unless given\n"
        "  --no-files          no private directory; --files, which is what holds, gives it one\n"
        "  -- ARG...           what process.argv has behind the program\n\n"
        "Limits are always on. Defaults and ranges:\n\n");
    for (i = 0; i < count; i++) {
        char flag[32];

        (void)snprintf(flag, sizeof(flag), "%s N", rows[i].flag);
        (void)printf("  %-19s %s (%llu; %llu to %llu)\n", flag, rows[i].help,
            (unsigned long long)(rows[i].by_default / rows[i].flag_factor),
            (unsigned long long)((rows[i].min + rows[i].flag_factor - 1) / rows[i].flag_factor),
            (unsigned long long)(rows[i].max / rows[i].flag_factor));
    }
    (void)printf(
        "\nExit codes: 0 ok (or what process.exit was given), 1 exception, 2 usage, 122 call "
        "limit, 123 disk limit, 124 wall "
        "limit,\n"
        "125 failure of vial itself, 126 denied, 130 cancelled, 134 crashed, 137 memory limit,\n"
        "152 cpu limit, 153 output limit.\n");
}

static int add_require(struct run_options *o, const char *layers)
{
    size_t used = strlen(o->require);
    int n =
        snprintf(o->require + used, sizeof(o->require) - used, "%s%s", used > 0 ? "," : "", layers);

    return n > 0 && (size_t)n < sizeof(o->require) - used
               ? 0
               : cli_fail(EXIT_USAGE, "--require takes up to %d characters", REQUIRE_BYTES_MAX - 1);
}

/* An option that sets a limit: 1 when it was one, 0 when not, or minus an exit code. */
static int take_limit(struct run_options *o, struct cli_args *a)
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);
    struct vial_error err;
    const char *value;
    uint64_t number;

    for (i = 0; i < count; i++) {
        if (strcmp(a->option, rows[i].flag) != 0) {
            continue;
        }
        value = cli_args_value(a, "run");
        if (value == NULL) {
            return -EXIT_USAGE;
        }
        if (cli_number(value, &number) < 0) {
            return -cli_fail(EXIT_USAGE, "%s takes a whole number from %llu to %llu, not \"%s\"",
                rows[i].flag,
                (unsigned long long)((rows[i].min + rows[i].flag_factor - 1) / rows[i].flag_factor),
                (unsigned long long)(rows[i].max / rows[i].flag_factor), value);
        }
        if (limits_set_from_flag(&o->limits, &rows[i], number, &err) < 0) {
            return -cli_fail(EXIT_USAGE, "%s", err.text);
        }
        return 1;
    }
    return 0;
}

/* Adds to a list that a flag may be repeated for. */
static int add_word(
    const char *what, const char *word, const char **list, size_t *count, size_t max)
{
    if (word == NULL) {
        return EXIT_USAGE;
    }
    if (*count == max) {
        return cli_fail(EXIT_USAGE, "%s may be given up to %zu times", what, max);
    }
    list[(*count)++] = word;
    return 0;
}

static int take_word(struct run_options *o, const char *word, int behind_dashes)
{
    if (behind_dashes && (o->file != NULL || o->code != NULL)) {
        return add_word("an argument", word, o->args, &o->args_count, PROCESS_STRINGS_MAX);
    }
    if (o->file != NULL) {
        return cli_fail(
            EXIT_USAGE, "one program at a time: both %s and %s were given", o->file, word);
    }
    o->file = word;
    return 0;
}

/* An option about files or the process: 1 when it was none of those, else 0 or an exit code. */
static int take_process_option(struct run_options *o, struct cli_args *a)
{
    const struct {
        const char *flag, **list;
        size_t *count, max;
    } lists[] = {
        {"--file", o->file_specs, &o->file_specs_count, PROCESS_STRINGS_MAX},
        {"--out", o->outs, &o->outs_count, GLOBS_MAX},
        {"--env", o->env, &o->env_count, PROCESS_STRINGS_MAX},
    };
    const struct {
        const char *flag;
        int *word, value;
    } words[] = {
        {"--force", &o->force, 1},
        {"--files", &o->files_mode, VIAL_FILES_ON},
        {"--no-files", &o->files_mode, VIAL_FILES_OFF},
    };
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strcmp(a->option, lists[i].flag) == 0) {
            return add_word(lists[i].flag, cli_args_value(a, "run"), lists[i].list, lists[i].count,
                lists[i].max);
        }
    }
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(a->option, words[i].flag) != 0) {
            continue;
        }
        if (words[i].word == &o->files_mode && o->files_mode + words[i].value == 3) {
            return cli_fail(EXIT_USAGE, "give either --files or --no-files, not both");
        }
        *words[i].word = words[i].value;
        return cli_args_plain(a, "run");
    }
    return 1;
}

static int take_kind(struct run_options *o, struct cli_args *a)
{
    uint32_t kind = strcmp(a->option, "--module") == 0 ? VIAL_KIND_MODULE : VIAL_KIND_SCRIPT;

    if (o->kind != VIAL_KIND_AUTO && o->kind != kind) {
        return cli_fail(EXIT_USAGE, "give either --module or --script, not both");
    }
    o->kind = kind;
    return cli_args_plain(a, "run");
}

static void free_modules(struct run_options *o)
{
    for (size_t i = 0; i < o->module_count; i++) {
        free((void *)(uintptr_t)o->modules[i].name);
        free((void *)(uintptr_t)o->modules[i].source);
    }
    free(o->modules);
}

/* 0, or an exit code when that is no name for a module. */
static int check_module_name(const char *name)
{
    struct buf full;
    const char *why;

    buf_init(&full, (size_t)4 * SPECIFIER_BYTES_MAX);
    why = specifier_resolve_own(name, strlen(name), &full);
    buf_release(&full);
    return why == NULL ? 0
                       : cli_fail(EXIT_USAGE, "the name of module \"%.80s\" %s",
                             utf8_valid(name, strlen(name), NULL) ? name : "", why);
}

/* NAME=FILE. The name goes up to the first equals sign: files have them, modules do not. */
static int take_module(struct run_options *o, struct cli_args *a)
{
    const char *value = cli_args_value(a, "run");
    const char *equals = value != NULL ? strchr(value, '=') : NULL;
    struct vial_module *module;
    char *name, *source = NULL;
    int code;

    if (value == NULL) {
        return EXIT_USAGE;
    }
    if (equals == NULL || equals[1] == '\0') {
        return cli_fail(EXIT_USAGE, "--module-file takes NAME=FILE, such as ./lib.js=src/lib.js");
    }
    if (o->module_count == VIAL_MODULES_MAX) {
        return cli_fail(EXIT_USAGE, "a run may have up to %d modules", VIAL_MODULES_MAX);
    }
    if (o->modules == NULL) {
        o->modules = calloc(VIAL_MODULES_MAX, sizeof(*o->modules));
    }
    name = o->modules != NULL ? strndup(value, (size_t)(equals - value)) : NULL;
    if (name == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a module");
    }
    module = &o->modules[o->module_count++];
    module->name = name;
    code = check_module_name(name);
    if (code != 0) {
        return code;
    }
    code = cli_read_file(equals + 1, SOURCE_BYTES_MAX, "a module", &source, &module->source_len);
    module->source = source;
    return code;
}

static int take_option(struct run_options *o, struct cli_args *a)
{
    const char **value = NULL;
    int r = take_process_option(o, a);

    if (r != 1) {
        return r;
    }
    if (strcmp(a->option, "-e") == 0 || strcmp(a->option, "--eval") == 0) {
        value = &o->code;
    } else if (strcmp(a->option, "--lang") == 0) {
        value = &o->language;
    } else if (strcmp(a->option, "--input") == 0) {
        value = &o->input;
    } else if (strcmp(a->option, "--input-file") == 0) {
        value = &o->input_file;
    } else if (strcmp(a->option, "--input-cbor") == 0) {
        value = &o->input_cbor;
    } else if (strcmp(a->option, "--cwd") == 0) {
        value = &o->cwd;
    } else if (strcmp(a->option, "--stdin") == 0) {
        value = &o->stdin_file;
    } else if (strcmp(a->option, "--out-dir") == 0) {
        value = &o->out_dir;
    } else if (strcmp(a->option, "--json") == 0) {
        o->json = 1;
        return cli_args_plain(a, "run");
    } else if (strcmp(a->option, "--no-jit") == 0) {
        o->no_jit = 1;
        return cli_args_plain(a, "run");
    } else if (strcmp(a->option, "--module") == 0 || strcmp(a->option, "--script") == 0) {
        return take_kind(o, a);
    } else if (strcmp(a->option, "--module-file") == 0) {
        return take_module(o, a);
    } else if (strcmp(a->option, "--require") == 0) {
        const char *layers = cli_args_value(a, "run");

        return layers != NULL ? add_require(o, layers) : EXIT_USAGE;
    }
    if (value != NULL) {
        if (*value != NULL) {
            return cli_fail(EXIT_USAGE, "%s was given twice", a->option);
        }
        *value = cli_args_value(a, "run");
        return *value != NULL ? 0 : EXIT_USAGE;
    }
    r = take_limit(o, a);
    if (r != 0) {
        return r > 0 ? 0 : -r;
    }
    return cli_unknown_option("run", a->option, KNOWN);
}

/* The language that was asked for, or -1 when there is no such. */
static int language_of(const char *name)
{
    static const char *const names[] = {"js", "javascript", "ts", "typescript"};

    if (name == NULL) {
        return VIAL_LANGUAGE_AUTO;
    }
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i < 2 ? VIAL_LANGUAGE_JAVASCRIPT : VIAL_LANGUAGE_TYPESCRIPT;
        }
    }
    return -1;
}

static int is_stdin(const char *file)
{
    return file != NULL && strcmp(file, "-") == 0;
}

/* 0, or an exit code; -1 when only help was asked for. */
static int parse(struct run_options *o, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            code = take_word(o, a.word, a.only_words);
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return -1;
        } else {
            code = take_option(o, &a);
        }
    }
    if (code != 0) {
        return code;
    }
    if ((o->file == NULL) == (o->code == NULL)) {
        return cli_fail(EXIT_USAGE,
            o->file == NULL ? "give a program: vial run FILE, vial run -e CODE, or vial run -"
                            : "give either a file or -e CODE, not both");
    }
    if ((o->input != NULL) + (o->input_file != NULL) + (o->input_cbor != NULL) > 1) {
        return cli_fail(EXIT_USAGE, "give one of --input, --input-file and --input-cbor");
    }
    if (language_of(o->language) < 0) {
        return cli_fail(EXIT_USAGE, "--lang takes js or ts, not \"%s\"", o->language);
    }
    if (is_stdin(o->file) + is_stdin(o->input_file) + is_stdin(o->input_cbor) +
            is_stdin(o->stdin_file) >
        1) {
        return cli_fail(EXIT_USAGE, "only one of program, input and --stdin can come from stdin");
    }
    if (o->outs_count == 0 && (o->out_dir != NULL || o->force)) {
        return cli_fail(EXIT_USAGE, "%s says nothing without --out",
            o->out_dir != NULL ? "--out-dir" : "--force");
    }
    return 0;
}

/* What a message calls a text: by its file when it has one. */
static const char *called(const char *file, const char *otherwise)
{
    return file != NULL && !is_stdin(file) ? file : otherwise;
}

/* The library would find these as well, but with an engine running. 0, or an exit code. */
static int check(const struct run_options *o, const struct vial_request *request)
{
    struct vial_limits limits = o->limits;
    struct json_fault fault;
    struct vial_error err;
    size_t bad;

    if (vial_limits_resolve(&limits, &err) < 0 || process_check(request, &limits, &err) < 0) {
        return cli_fail_library(&err);
    }
    if (layer_require_check(o->require, &err) < 0) {
        return cli_fail_library(&err);
    }
    if (!utf8_valid(request->source, request->source_len, &bad)) {
        return cli_fail(
            EXIT_USAGE, "%s is not UTF-8 (at byte %zu)", called(o->file, "the source"), bad);
    }
    if (strlen(request->name) > NAME_BYTES_MAX ||
        !utf8_valid(request->name, strlen(request->name), NULL)) {
        return cli_fail(
            EXIT_USAGE, "the name of the source must be UTF-8 of up to %d bytes", NAME_BYTES_MAX);
    }
    if (request->input != NULL && o->input_cbor == NULL &&
        json_check(request->input, request->input_len, INPUT_DEPTH_MAX, &fault) < 0) {
        return cli_fail(EXIT_USAGE, "%s is not JSON: %s at line %u, column %u",
            called(o->input_file, "the input"), fault.why, fault.line, fault.column);
    }
    return 0;
}

/* ---- while it runs ---- */

static struct vial_run *current_run; /* for the signal handlers */
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t status_shown;
static volatile sig_atomic_t seconds;

static void on_interrupt(int number)
{
    (void)number;
    if (interrupted++ > 0) {
        _exit(EXIT_CANCELLED); /* asked twice: at once; the kernel ends the cells with us */
    }
    if (current_run != NULL) {
        vial_run_cancel(current_run);
    }
}

static void say(const char *bytes, size_t len)
{
    (void)!write(2, bytes, len); /* short counts handled */
}

/* Once a second on a terminal: that it still runs. Only what may be called in a handler. */
static void on_second(int number)
{
    char line[] = "\r\033[Kvial: running for      s (Ctrl-C stops it)";
    int n = (int)++seconds;
    size_t at = 25; /* the last of the spaces but one */

    (void)number;
    do {
        line[at--] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0 && at > 20);
    say(line, sizeof(line) - 1);
    status_shown = 1;
}

static void clear_status(void)
{
    if (status_shown) {
        say("\r\033[K", 4);
        status_shown = 0;
    }
}

static int output_errno; /* why the guest's output could not be passed on; 0: it could */

static void on_output(int stream, const char *bytes, size_t len, void *user)
{
    ssize_t n;

    (void)user;
    clear_status();
    while (len > 0) {
        n = write(stream, bytes, len); /* short counts handled */
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            output_errno = errno; /* a full disk, say; the run goes on, and its end will tell */
            return;               /* a closed pipe ends us with SIGPIPE */
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static void watch_signals(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    struct sigaction second = {.sa_handler = on_second, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};

    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGTERM, &interrupt, NULL);
    if (isatty(2)) {
        (void)sigaction(SIGALRM, &second, NULL);
        (void)setitimer(ITIMER_REAL, &every, NULL);
    }
}

static void unwatch_signals(void)
{
    struct itimerval never = {.it_value = {.tv_sec = 0}};

    (void)setitimer(ITIMER_REAL, &never, NULL);
    clear_status();
}

/* ---- afterwards ---- */

static int exit_code_of(int status)
{
    static const int codes[] = {
        [VIAL_STATUS_OK] = EXIT_FINE,
        [VIAL_STATUS_EXCEPTION] = EXIT_EXCEPTION,
        [VIAL_STATUS_WALL_LIMIT] = EXIT_WALL_LIMIT,
        [VIAL_STATUS_CPU_LIMIT] = EXIT_CPU_LIMIT,
        [VIAL_STATUS_MEMORY_LIMIT] = EXIT_MEMORY_LIMIT,
        [VIAL_STATUS_OUTPUT_LIMIT] = EXIT_OUTPUT_LIMIT,
        [VIAL_STATUS_CALL_LIMIT] = EXIT_CALL_LIMIT,
        [VIAL_STATUS_DISK_LIMIT] = EXIT_DISK_LIMIT,
        [VIAL_STATUS_DENIED] = EXIT_DENIED,
        [VIAL_STATUS_CANCELLED] = EXIT_CANCELLED,
        [VIAL_STATUS_CRASHED] = EXIT_CRASHED,
    };

    return status >= 0 && (size_t)status < sizeof(codes) / sizeof(codes[0]) ? codes[status]
                                                                            : EXIT_OUR_FAILURE;
}

/* Guest text on our stderr: control characters other than line ends and tabs become visible. Those
 * from U+0080 to U+009F, which drive terminals too, are two bytes. */
static void print_safe(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        unsigned char next = (unsigned char)text[1];

        if (c == 0xc2 && next >= 0x80 && next <= 0x9f) {
            (void)fprintf(stderr, "\\x%02x", next);
            text++;
        } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
            (void)fprintf(stderr, "\\x%02x", c);
        } else {
            (void)fputc(c, stderr);
        }
    }
}

static void print_error(const struct vial_result *result, const char *name)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    if (e.name == NULL) {
        return;
    }
    if (e.line != 0 && e.source_line != NULL) {
        print_safe(e.file != NULL ? e.file : name);
        (void)fprintf(stderr, ":%u\n", e.line);
        print_safe(e.source_line);
        (void)fprintf(
            stderr, "\n%*s\n\n", (int)(e.column < 200 ? e.column : 200), e.column != 0 ? "^" : "");
    }
    if (e.stack != NULL && e.stack[0] != '\0') {
        print_safe(e.stack);
    } else {
        print_safe(e.name);
        (void)fputs(": ", stderr);
        print_safe(e.message);
    }
    (void)fputc('\n', stderr);
    if (e.hint != NULL) {
        (void)fputs("hint: ", stderr);
        print_safe(e.hint);
        (void)fputc('\n', stderr);
    }
}

static void print_dropped(const struct vial_result *result)
{
    static const char *const names[] = {"stdout", "stderr"};
    uint64_t dropped;
    size_t len;
    int i;

    for (i = 0; i < 2; i++) {
        (void)vial_result_output(result, i == 0 ? VIAL_STDOUT : VIAL_STDERR, &len, &dropped);
        if (dropped > 0) {
            (void)fprintf(stderr,
                "vial: %s was cut after %zu bytes, %llu more were dropped; --%s-bytes raises the "
                "limit\n",
                names[i], len, (unsigned long long)dropped, names[i]);
        }
    }
}

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

static int report(struct vial_result *result, const struct run_options *o, const char *name)
{
    const char *text;
    size_t len;
    int code, status = vial_result_status(result);

    code = keep_files(result, o); /* first: who reads our output may have gone */
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
        print_error(result, name);
        print_dropped(result);
    }
    if (fflush(stdout) != 0) {
        return cli_fail(EXIT_OUR_FAILURE, "cannot write to stdout: %s", strerrordesc_np(errno));
    }
    if (output_errno != 0) {
        return cli_fail(
            EXIT_OUR_FAILURE, "output of the program was lost: %s", strerrordesc_np(output_errno));
    }
    if (code != 0) {
        return code;
    }
    return status == VIAL_STATUS_OK ? vial_result_exit_code(result) : exit_code_of(status);
}

static int execute(const struct run_options *o, const struct vial_request *request)
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
    eo.require = o->require[0] != '\0' ? o->require : NULL;
    watch_signals();
    r = vial_engine_new(&eo, &engine, &err);
    if (r < 0 || interrupted) {
        unwatch_signals();
        vial_engine_free(engine);
        return interrupted ? EXIT_CANCELLED : cli_fail_library(&err);
    }
    if (strcmp(vial_engine_level(engine), "filtered") == 0) {
        (void)fprintf(stderr,
            "vial: warning: no user namespaces here, so isolation is only \"filtered\"; "
            "--require rootless refuses this, `vial doctor` says more\n");
    }
    r = vial_run_start(engine, request, &run, &err);
    if (r == 0) {
        current_run = run;
        if (interrupted) {
            vial_run_cancel(run); /* it came before there was one */
        }
        r = vial_run_wait(run, &result, &err);
        current_run = NULL;
        vial_run_free(run);
    }
    unwatch_signals();
    if (r < 0) {
        code = cli_fail_library(&err);
    } else {
        code = report(result, o, request->name);
        vial_result_free(result);
    }
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
    if (code == 0 && o->outs_count > 0) {
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
    char *source = NULL, *input = NULL, *stdin_bytes = NULL;
    size_t source_len = 0, input_len = 0, stdin_len = 0;
    int code = parse(&o, argc, argv);

    if (code != 0) {
        free_modules(&o);
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
    if (code == 0) {
        request.stdin_bytes = stdin_bytes;
        request.stdin_len = stdin_len;
        request.source = o.code != NULL ? o.code : source;
        request.source_len = o.code != NULL ? strlen(o.code) : source_len;
        request.name = o.file == NULL ? "[eval]" : is_stdin(o.file) ? "[stdin]" : o.file;
        request.input_is_cbor = o.input_cbor != NULL;
        request.input = o.input != NULL ? o.input : input;
        request.input_len = o.input != NULL ? strlen(o.input) : input_len;
        request.modules = o.modules;
        request.module_count = o.module_count;
        request.kind = o.kind;
        request.limits = &o.limits;
        request.want_text = !o.json;
        request.language = (uint32_t)language_of(o.language);
        request.on_output = o.json ? NULL : on_output;
        code = check(&o, &request);
    }
    if (code == 0) {
        code = execute(&o, &request);
    }
    file_args_release(&files);
    free(source);
    free(input);
    free(stdin_bytes);
    free_modules(&o);
    return code;
}
