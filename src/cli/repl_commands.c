/* repl_commands.c - the lines of `vial repl` that begin with a dot. See repl.h. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/artifact_args.h"
#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/repl.h"
#include "policy/limits.h"

enum {
    SOURCE_BYTES_MAX = 64 * 1024 * 1024, /* as the library has it */
    LINE_SHOWN_BYTES = 40,
};

struct command {
    const char *name;
    const char *argument; /* as help shows it */
    int (*run)(struct repl *r, const char *argument);
    const char *help;
};

static int do_help(struct repl *r, const char *argument);
static int do_exit(struct repl *r, const char *argument);
static int do_branches(struct repl *r, const char *argument);
static int do_undo(struct repl *r, const char *argument);
static int do_info(struct repl *r, const char *argument);
static int do_files(struct repl *r, const char *argument);
static int do_load(struct repl *r, const char *argument);
static int do_save(struct repl *r, const char *argument);
static int do_limits(struct repl *r, const char *argument);
static int do_artifacts(struct repl *r, const char *argument);

static const struct command COMMANDS[] = {
    {"help", "", do_help, "this list"},
    {"exit", "", do_exit, "end; so does Ctrl-D"},
    {"branch", "[NAME]", repl_branch_make, "keep the present state as a branch of its own"},
    {"branches", "", do_branches, "all branches; the present one has a star"},
    {"use", "NAME", repl_branch_use, "go on in another branch"},
    {"drop", "NAME", repl_branch_drop, "end a branch"},
    {"undo", "", do_undo, "back to the state before the last input"},
    {"info", "", do_info, "about the session"},
    {"files", "", do_files, "the files in the session's /home/vial"},
    {"load", "FILE", do_load, "evaluate a file of this machine"},
    {"save", "[-f] FILE", do_save, "write the inputs that went well to a file; -f overwrites"},
    {"artifacts", "[-f] DIR", do_artifacts, "save what the last input that did so showed"},
    {"limits", "", do_limits, "the limits that hold"},
};

enum { COMMANDS_COUNT = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

int repl_is_command(const char *line, size_t len)
{
    size_t at = 0;

    while (at < len && (line[at] == ' ' || line[at] == '\t')) {
        at++;
    }
    return at + 1 < len && line[at] == '.' &&
           ((line[at + 1] >= 'a' && line[at + 1] <= 'z') ||
               (line[at + 1] >= 'A' && line[at + 1] <= 'Z'));
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t\r\n");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL) {
        text[--len] = '\0';
    }
    return text;
}

int repl_command(struct repl *r, const char *line, size_t len)
{
    char *copy = strndup(line, len);
    char *name = copy != NULL ? trim(copy) + 1 : NULL;
    char *argument;
    size_t i;
    int code;

    if (name == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a command");
    }
    argument = name + strcspn(name, " \t");
    if (*argument != '\0') {
        *argument++ = '\0';
        argument = trim(argument);
    }
    for (i = 0; i < COMMANDS_COUNT && strcmp(COMMANDS[i].name, name) != 0; i++) {
    }
    if (i == COMMANDS_COUNT) {
        code = cli_fail(EXIT_USAGE,
            "there is no command .%.*s; .help lists them. A statement cannot go on from an "
            "evaluated line: leave the dot at the end of that one",
            LINE_SHOWN_BYTES, name);
    } else if (COMMANDS[i].argument[0] == '\0' && *argument != '\0') {
        code = cli_fail(EXIT_USAGE, ".%s takes nothing behind it", name);
    } else {
        code = COMMANDS[i].run(r, argument);
    }
    (void)fflush(stdout);
    free(copy);
    return code;
}

/* ---- the small ones ---- */

static int do_help(struct repl *r, const char *argument)
{
    char words[32];
    size_t i;

    (void)r;
    (void)argument;
    for (i = 0; i < COMMANDS_COUNT; i++) {
        (void)snprintf(words, sizeof(words), ".%s %s", COMMANDS[i].name, COMMANDS[i].argument);
        (void)printf("%-20s %s\n", words, COMMANDS[i].help);
    }
    (void)printf("\nA branch has everything: variables, closures, timers, files. `.branch before`, "
                 "then something\ndaring, then `.use before`. Timers go on while an input is "
                 "evaluated.\n");
    return 0;
}

static int do_exit(struct repl *r, const char *argument)
{
    (void)argument;
    r->has_ended = 1;
    return 0;
}

static int do_undo(struct repl *r, const char *argument)
{
    (void)argument;
    return repl_undo(r);
}

/* ---- looking at sessions ---- */

/* A number of bytes as people read it; static. */
static const char *size_text(uint64_t bytes)
{
    static char text[32];

    if (bytes < 1024) {
        (void)snprintf(text, sizeof(text), "%llu B", (unsigned long long)bytes);
    } else if (bytes < 1048576) {
        (void)snprintf(text, sizeof(text), "%.1f KB", (double)bytes / 1024);
    } else {
        (void)snprintf(text, sizeof(text), "%.1f MB", (double)bytes / 1048576);
    }
    return text;
}

static int do_branches(struct repl *r, const char *argument)
{
    size_t i;

    (void)argument;
    for (i = 0; i < r->branches_count; i++) {
        const struct repl_branch *b = &r->branches[i];
        struct vial_session_info info = VIAL_SESSION_INFO_INIT;

        vial_session_info(b->session, &info);
        (void)printf("%c %-16s %4llu inputs  %10s%s%s%s%s\n", i == r->present ? '*' : ' ', b->name,
            (unsigned long long)info.eval_count, size_text(info.memory_bytes),
            b->from[0] != '\0' ? "  of " : "", b->from,
            info.state == VIAL_SESSION_ENDED ? "  has ended: " : "",
            info.state == VIAL_SESSION_ENDED ? info.ended : "");
    }
    return 0;
}

static int do_info(struct repl *r, const char *argument)
{
    const struct repl_branch *b = repl_present(r);
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;

    (void)argument;
    vial_session_info(b->session, &info);
    (void)printf("branch       %s%s%s\n", b->name, b->from[0] != '\0' ? ", made of " : "", b->from);
    if (r->options->env.name != NULL) {
        (void)printf("environment  %s\n", r->options->env.name);
    }
    (void)printf("inputs       %llu\n", (unsigned long long)info.eval_count);
    (void)printf("memory       %s\n", size_text(info.memory_bytes));
    (void)printf(
        "files        %s, %u with directories\n", size_text(info.file_bytes), info.file_count);
    (void)printf("age          %llu s\n",
        (unsigned long long)((clock_now_us() - info.created_us) / 1000000));
    (void)printf("checkpoint   %s\n", b->before != NULL      ? "from before the last input; .undo"
                                      : r->keeps_checkpoints ? "none yet"
                                                             : "none are kept");
    (void)printf("isolation    %s\n", vial_engine_level(r->engine));
    return 0;
}

/* A guest's text: bytes that could drive the terminal become question marks. */
static void put_safe(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        (void)putchar(
            c < 0x20 || c == 0x7f || (c == 0xc2 && ((unsigned char)text[1] & 0xe0) == 0x80) ? '?'
                                                                                            : c);
    }
}

static int do_files(struct repl *r, const char *argument)
{
    static const char *const all[] = {"**"};
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_file file;
    uint64_t left;
    size_t i;
    int code;

    (void)argument;
    request.source = "";
    request.outs = all;
    request.outs_count = 1;
    code = repl_ask(r, &request, &result);
    if (code != 0) {
        return code;
    }
    for (i = 0; i < vial_result_file_count(result); i++) {
        if (vial_result_file(result, i, &file) == 0) {
            (void)printf("%10s  ", size_text(file.len));
            put_safe(file.name);
            (void)putchar('\n');
        }
    }
    left = vial_result_files_left_out(result);
    if (left > 0) {
        (void)printf("and %llu that are links, special or too large\n", (unsigned long long)left);
    }
    vial_result_free(result);
    return 0;
}

/* What a result reports, since an environment may have limits of its own. */
static int do_limits(struct repl *r, const char *argument)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    const struct limit_row *rows;
    const json_t *limits;
    json_t *root;
    const char *text;
    size_t len = 0, count, i;
    int code;

    (void)argument;
    request.source = "";
    code = repl_ask(r, &request, &result);
    if (code != 0) {
        return code;
    }
    text = vial_result_json(result, &len);
    root = text != NULL ? json_loadb(text, len, 0, NULL) : NULL;
    limits = json_object_get(root, "limits");
    rows = limits_table(&count);
    for (i = 0; i < count; i++) {
        const json_t *value = json_object_get(limits, rows[i].field);

        if (json_is_integer(value)) {
            (void)printf("%-16s %12lld  %s\n", rows[i].flag,
                (long long)json_integer_value(value) / (long long)rows[i].flag_factor,
                rows[i].help);
        }
    }
    code = root != NULL ? 0 : cli_fail(EXIT_OUR_FAILURE, "no memory for the limits");
    json_decref(root);
    vial_result_free(result);
    return code;
}

/* ---- files of this machine ---- */

static int do_load(struct repl *r, const char *argument)
{
    char *source = NULL;
    size_t len = 0;
    int code;

    if (argument[0] == '\0' || strcmp(argument, "-") == 0) {
        return cli_fail(EXIT_USAGE, "say which file: .load FILE");
    }
    code = cli_read_file(argument, SOURCE_BYTES_MAX, "a program", &source, &len);
    code = code != 0 ? code : repl_eval(r, source, len, argument);
    free(source);
    return code;
}

static int do_save(struct repl *r, const char *argument)
{
    const struct buf *transcript = &repl_present(r)->transcript;
    int force = strncmp(argument, "-f ", 3) == 0;
    int fd, failed;

    argument += force ? 3 + strspn(argument + 3, " \t") : 0;
    if (argument[0] == '\0') {
        return cli_fail(EXIT_USAGE, "say where to: .save FILE");
    }
    fd = open(argument, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0 && errno == EEXIST) {
        return cli_fail(
            EXIT_USAGE, "there is a file %s; .save -f %s overwrites it", argument, argument);
    }
    failed = fd < 0 || fd_write_all(fd, transcript->data, transcript->len) < 0;
    failed = failed ? errno : 0;
    fd_closep(&fd);
    if (failed != 0) {
        return cli_fail(EXIT_OUR_FAILURE, "cannot write %s: %s", argument, strerrordesc_np(failed));
    }
    repl_note(r, "Wrote %s to %s.", size_text(transcript->len), argument);
    return 0;
}

static int do_artifacts(struct repl *r, const char *argument)
{
    int force = strncmp(argument, "-f ", 3) == 0;
    int dir, code;

    argument += force ? 3 + strspn(argument + 3, " \t") : 0;
    if (argument[0] == '\0') {
        return cli_fail(EXIT_USAGE, "say where to: .artifacts DIR");
    }
    if (r->shown == NULL) {
        return cli_fail(EXIT_USAGE, "no input has shown anything yet; display(value) does");
    }
    dir = open(argument, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        return cli_fail(EXIT_USAGE, "%s: %s", argument, strerrordesc_np(errno));
    }
    code = artifact_args_save(r->shown, dir, argument, force);
    fd_closep(&dir);
    return code;
}

/* ---- completion ---- */

static int complete_command(const char *word, size_t len, struct buf *words)
{
    char name[32];
    size_t i;
    int r = 0;

    for (i = 0; i < COMMANDS_COUNT && r == 0; i++) {
        (void)snprintf(name, sizeof(name), ".%s", COMMANDS[i].name);
        if (strncmp(name, word, len) == 0) {
            r = completion_add(words, name);
        }
    }
    return r;
}

/* Behind a command that takes the name of a branch. */
static size_t complete_branch(
    const struct repl *r, const char *line, size_t cursor, struct buf *words)
{
    size_t start = cursor, i;

    while (start > 0 && line[start - 1] != ' ' && line[start - 1] != '\t') {
        start--;
    }
    for (i = 0; i < r->branches_count; i++) {
        if (strncmp(r->branches[i].name, line + start, cursor - start) == 0) {
            (void)completion_add(words, r->branches[i].name);
        }
    }
    return start;
}

size_t repl_complete(const char *line, size_t cursor, struct buf *words, void *user)
{
    struct repl *r = user;
    size_t start = completion_start(line, cursor);
    struct vial_session *copy = NULL;
    char *names = NULL;

    if (cursor >= 5 &&
        (strncmp(line, ".use ", 5) == 0 || (cursor >= 6 && strncmp(line, ".drop ", 6) == 0))) {
        return complete_branch(r, line, cursor, words);
    }
    if (start == cursor) {
        return cursor;
    }
    if (line[start] == '.') {
        (void)complete_command(line + start, cursor - start, words);
        return start;
    }
    /* In a copy: an object with a million members may take all memory to list. */
    if (vial_session_branch(repl_present(r)->session, 1, &copy, NULL) == 0 &&
        vial_session_complete(copy, line + start, cursor - start, &names, NULL) == 0) {
        (void)completion_take(names, words);
    }
    vial_text_free(names);
    vial_session_free(copy);
    return start;
}
