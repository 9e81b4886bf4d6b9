/* common.c - see cli.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near.h"
#include "cli/cli.h"

enum {
    MESSAGE_BYTES_MAX = 1024,
    READ_STEP = 65536,
};

int cli_fail(int code, const char *format, ...)
{
    char text[MESSAGE_BYTES_MAX];
    va_list ap;
    size_t i;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    for (i = 0; text[i] != '\0'; i++) { /* a file name must not be able to drive the terminal */
        unsigned char c = (unsigned char)text[i];
        unsigned char next = (unsigned char)text[i + 1];

        if (c < 0x20 || c == 0x7f) {
            text[i] = '?';
        } else if (c == 0xc2 && next >= 0x80 && next <= 0x9f) { /* U+0080 to U+009F */
            text[i] = text[i + 1] = '?';
        }
    }
    (void)fprintf(stderr, "vial: %s\n", text);
    return code;
}

int cli_fail_library(const struct vial_error *err)
{
    return cli_fail(err->code == VIAL_E_INVALID     ? EXIT_USAGE
                    : err->code == VIAL_E_ISOLATION ? EXIT_DENIED
                                                    : EXIT_OUR_FAILURE,
        "%s", err->text);
}

int cli_number(const char *text, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i;

    for (i = 0; text[i] >= '0' && text[i] <= '9'; i++) {
        if (__builtin_mul_overflow(v, 10U, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v)) {
            return -1;
        }
    }
    if (i == 0 || text[i] != '\0') {
        return -1;
    }
    *ret = v;
    return 0;
}

void cli_args_init(struct cli_args *a, int argc, char **argv)
{
    *a = (struct cli_args){.argv = argv, .argc = argc};
}

int cli_args_next(struct cli_args *a)
{
    const char *arg, *equals;
    size_t len;

    if (a->at >= a->argc) {
        return 0;
    }
    arg = a->argv[a->at++];
    a->option = a->word = NULL;
    if (!a->only_words && strcmp(arg, "--") == 0) {
        a->only_words = 1;
        return cli_args_next(a);
    }
    if (a->only_words || arg[0] != '-' || arg[1] == '\0') {
        a->word = arg;
        return 1;
    }
    equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    if (equals == NULL) {
        a->option = arg;
        return 1;
    }
    len = (size_t)(equals - arg);
    len = len < sizeof(a->name) ? len : sizeof(a->name) - 1;
    memcpy(a->name, arg, len);
    a->name[len] = '\0';
    a->option = a->name;
    a->word = equals + 1;
    return 1;
}

const char *cli_args_value(struct cli_args *a, const char *command)
{
    if (a->word == NULL && a->at < a->argc) {
        a->word = a->argv[a->at++];
    }
    if (a->word == NULL) {
        (void)cli_fail(EXIT_USAGE, "%s needs a value; see `vial %s --help`", a->option, command);
    }
    return a->word;
}

int cli_args_plain(struct cli_args *a, const char *command)
{
    return a->word == NULL ? 0
                           : cli_fail(EXIT_USAGE, "%s takes no value; see `vial %s --help`",
                                 a->option, command);
}

int cli_unknown_option(const char *command, const char *option, const char *const known[])
{
    const char *best = near_word(option, known);

    if (best != NULL) {
        return cli_fail(EXIT_USAGE, "there is no option %s; did you mean %s? See `vial %s --help`",
            option, best, command);
    }
    return cli_fail(EXIT_USAGE, "there is no option %s; see `vial %s --help`", option, command);
}

static int open_source(const char *path, size_t max, const char *what, int *ret)
{
    struct stat st;
    int fd;

    if (strcmp(path, "-") == 0) {
        *ret = 0;
        return 0;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int code = cli_fail(EXIT_USAGE, "cannot read %s: %s", path, strerrordesc_np(errno));

        if (fd >= 0) {
            (void)close(fd);
        }
        return code;
    }
    if (S_ISDIR(st.st_mode)) {
        (void)close(fd);
        return cli_fail(EXIT_USAGE, "%s is a directory; give %s", path, what);
    }
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max) {
        (void)close(fd);
        return cli_fail(EXIT_USAGE, "%s has %llu bytes; %s may have up to %zu", path,
            (unsigned long long)st.st_size, what, max);
    }
    (void)fcntl(fd, F_SETFL, 0);
    *ret = fd;
    return 0;
}

int cli_read_file(const char *path, size_t max, const char *what, char **ret, size_t *ret_len)
{
    char *bytes = NULL, *grown;
    size_t len = 0, capacity = 0;
    ssize_t n = 0;
    int fd = -1;
    int code;

    code = open_source(path, max, what, &fd);
    if (code != 0) {
        return code;
    }
    for (;;) {
        if (len == capacity) {
            capacity = capacity == 0 ? READ_STEP : capacity * 2;
            grown = realloc(bytes, capacity + 1);
            if (grown == NULL) {
                code = EXIT_OUR_FAILURE;
                (void)cli_fail(code, "no memory for %s", path);
                break;
            }
            bytes = grown;
        }
        n = read(fd, bytes + len, capacity - len); /* short counts handled */
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
        if (len > max) {
            code = cli_fail(
                EXIT_USAGE, "%s has more than the %zu bytes that %s may have", path, max, what);
            break;
        }
    }
    if (n < 0 && code == 0) {
        code = cli_fail(EXIT_USAGE, "cannot read %s: %s", path, strerrordesc_np(errno));
    }
    if (fd != 0) {
        (void)close(fd);
    }
    if (code != 0) {
        free(bytes);
        return code;
    }
    bytes[len] = '\0';
    *ret = bytes;
    *ret_len = len;
    return 0;
}
