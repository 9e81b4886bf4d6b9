/* print_stubs.c - prints stubs for the integration tests, which look at them with the parsers of
 * the languages: print-stubs typescript|python write|describe (NAME DESCRIPTION INPUT OUTPUT
 * FLAGS)...
 *
 * "-" is nothing; the flags are s for sync and a for approve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/stubs.h"

enum { WORDS = 5, OUT_BYTES_MAX = 64 * 1024 * 1024 };

static const char *word(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

int main(int argc, char **argv)
{
    size_t count = argc > 3 ? (size_t)(argc - 3) / WORDS : 0, i;
    struct stub_tool *tools = calloc(count + 1, sizeof(*tools));
    enum stub_language language;
    struct vial_error err;
    struct buf out;
    char **at;
    int r;

    if (tools == NULL || argc < 3) {
        return 2;
    }
    for (i = 0; i < count; i++) {
        at = argv + 3 + i * WORDS;
        tools[i] = (struct stub_tool){.name = at[0],
            .description = word(at[1]),
            .input = word(at[2]),
            .output = word(at[3]),
            .sync = strchr(at[4], 's') != NULL,
            .approve = strchr(at[4], 'a') != NULL};
    }
    language = strcmp(argv[1], "python") == 0 ? STUB_PYTHON : STUB_TYPESCRIPT;
    buf_init(&out, OUT_BYTES_MAX);
    if (strcmp(argv[2], "describe") == 0) {
        r = stubs_describe(tools, language, &out, &err);
    } else {
        r = stubs_write(tools, count, language, &out, &err);
    }
    if (r < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
    } else if (out.len > 0) {
        (void)fwrite(out.data, 1, out.len, stdout);
    }
    buf_release(&out);
    free(tools);
    return r < 0;
}
