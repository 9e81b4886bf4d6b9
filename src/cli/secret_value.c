/* secret_value.c - where the value of a secret comes from; see secret.h.
 *
 * Values are read with read(2) into memory that is overwritten afterwards: stdio would keep a copy
 * in a buffer of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/secret.h"

enum {
    READ_BYTES_MAX = SECRET_VALUE_BYTES_MAX + 3, /* a newline of two bytes, and one too many */
    /* The kernel's line editor keeps no more of a line, and drops the rest without a word. */
    LINE_BYTES_MAX = 4095,
};

/* Set by a signal while the terminal does not show what is typed. */
static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static int take_memory(struct secret_value *value)
{
    value->bytes = malloc(READ_BYTES_MAX + 1);
    if (value->bytes == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a secret");
    }
    value->len = READ_BYTES_MAX; /* so that all of it is overwritten */
    memset(value->bytes, 0, READ_BYTES_MAX + 1);
    return 0;
}

/* ---- the terminal ---- */

/* One line, without its newline. 0, or an exit code after a message. */
static int read_line(int fd, const char *prompt, const char *name, struct secret_value *ret)
{
    int code = take_memory(ret);
    size_t len = 0;
    ssize_t n;

    if (code != 0) {
        return code;
    }
    (void)fprintf(stderr, "%s %s: ", prompt, name);
    (void)fflush(stderr);
    while (!interrupted && len < READ_BYTES_MAX) {
        n = read(fd, ret->bytes + len, READ_BYTES_MAX - len); /* short counts handled */
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
        if (ret->bytes[len - 1] == '\n') {
            break;
        }
    }
    (void)fputc('\n', stderr); /* the one that was typed is not shown either */
    if (interrupted) {
        return EXIT_CANCELLED;
    }
    if (len >= LINE_BYTES_MAX) {
        return cli_fail(EXIT_USAGE,
            "a terminal takes lines of up to %d bytes; give the value with --file or through a "
            "pipe",
            LINE_BYTES_MAX - 1);
    }
    len -= len > 0 && ret->bytes[len - 1] == '\n';
    explicit_bzero(ret->bytes + len, READ_BYTES_MAX - len);
    ret->len = len;
    return 0;
}

static int ask_twice(int fd, const char *name, struct secret_value *ret)
{
    struct secret_value again = {.len = 0};
    int code = read_line(fd, "Not shown as it is typed: the value of", name, ret);

    if (code == 0 && ret->len == 0) {
        return cli_fail(EXIT_USAGE, "there is no value");
    }
    code = code != 0 ? code : read_line(fd, "The same once more: the value of", name, &again);
    if (code == 0 && (again.len != ret->len || memcmp(again.bytes, ret->bytes, ret->len) != 0)) {
        code = cli_fail(EXIT_USAGE, "these were two different values; nothing was stored");
    }
    secret_value_release(&again);
    return code;
}

/* Turns echo off while somebody types, and back on whatever happens to us meanwhile. */
static int read_terminal(int fd, const char *name, struct secret_value *ret)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };
    struct sigaction note = {.sa_handler = note_signal}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction before[SIGNALS], before_stop;
    struct termios shown, hidden;
    int code, failed;
    size_t i;

    if (tcgetattr(fd, &shown) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "the terminal: %s", strerrordesc_np(errno));
    }
    for (i = 0; i < SIGNALS; i++) { /* without SA_RESTART: they end the read */
        (void)sigaction(signals[i], &note, &before[i]);
    }
    (void)sigaction(SIGTSTP, &ignore, &before_stop); /* the shell would show what is typed */
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    hidden.c_lflag |= ICANON | ISIG;
    failed = tcsetattr(fd, TCSAFLUSH, &hidden) < 0 || tcgetattr(fd, &hidden) < 0 ||
             (hidden.c_lflag & ECHO) != 0;
    code = failed ? cli_fail(EXIT_OUR_FAILURE, "the terminal would show what is typed; give the "
                                               "value with --file or through a pipe")
                  : ask_twice(fd, name, ret);
    (void)tcsetattr(fd, TCSAFLUSH, &shown);
    (void)sigaction(SIGTSTP, &before_stop, NULL);
    for (i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], &before[i], NULL);
    }
    return code;
}

/* ---- files, pipes, variables ---- */

static int read_all(int fd, const char *called, struct secret_value *ret)
{
    int code = take_memory(ret);
    size_t newline;
    ssize_t n;

    if (code != 0) {
        return code;
    }
    n = fd_read_up_to(fd, ret->bytes, READ_BYTES_MAX);
    if (n < 0) {
        return cli_fail(EXIT_USAGE, "cannot read %s: %s", called, strerrordesc_np(errno));
    }
    newline = n > 0 && ret->bytes[n - 1] == '\n';
    newline += newline && n > 1 && ret->bytes[n - 2] == '\r';
    ret->len = (size_t)n - newline;
    if (ret->len == 0 || ret->len > SECRET_VALUE_BYTES_MAX) {
        code = cli_fail(EXIT_USAGE, "%s",
            ret->len == 0 ? "there is no value" : "a value has up to 65536 bytes");
        ret->len = READ_BYTES_MAX;
        return code;
    }
    if (newline) {
        (void)fprintf(stderr, "vial: the newline at the end was left out\n");
    }
    return 0;
}

static int read_file(const char *path, struct secret_value *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    int code;

    if (fd < 0 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode)) {
        int sys = fd >= 0 && S_ISDIR(st.st_mode) ? EISDIR : errno;

        fd_closep(&fd);
        return cli_fail(EXIT_USAGE, "cannot read %s: %s", path, strerrordesc_np(sys));
    }
    code = isatty(fd) ? cli_fail(EXIT_USAGE, "%s is a terminal; leave --file out", path)
                      : read_all(fd, path, ret);
    fd_closep(&fd);
    return code;
}

static int read_variable(const char *name, struct secret_value *ret)
{
    const char *value = getenv(name);
    size_t len = value != NULL ? strlen(value) : 0;
    int code;

    if (value == NULL) {
        return cli_fail(EXIT_USAGE, "there is no such variable in the environment");
    }
    if (len == 0 || len > SECRET_VALUE_BYTES_MAX) {
        return cli_fail(EXIT_USAGE, "a value has 1 to %d bytes", SECRET_VALUE_BYTES_MAX);
    }
    code = take_memory(ret);
    if (code == 0) {
        memcpy(ret->bytes, value, len + 1);
        ret->len = len;
    }
    return code;
}

int secret_value_read(const struct secret_args *o, struct secret_value *ret)
{
    if (o->env != NULL) {
        return read_variable(o->env, ret);
    }
    if (o->file != NULL && strcmp(o->file, "-") != 0) {
        return read_file(o->file, ret);
    }
    return isatty(STDIN_FILENO) ? read_terminal(STDIN_FILENO, o->words[1], ret)
                                : read_all(STDIN_FILENO, "stdin", ret);
}
