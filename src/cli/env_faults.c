/* env_faults.c - what is wrong with a document, one fault a line. */
#include <jansson.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/env.h"

/* Paths and messages have words of the document in them, which must not drive a terminal. */
static void put_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)text[0];
        unsigned char next = (unsigned char)text[1];

        if (c == 0xc2 && next >= 0x80 && next <= 0x9f) { /* U+0080 to U+009F */
            (void)fputs("??", stderr);
            text++;
        } else {
            (void)fputc(c < 0x20 || c == 0x7f ? '?' : c, stderr);
        }
    }
}

int env_say_faults(const char *called, const struct buf *report)
{
    json_t *faults = json_loadb(report->data, report->len, 0, NULL);
    size_t count = json_array_size(faults), i;

    if (faults == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the faults of %s", called);
    }
    (void)cli_fail(EXIT_DOCUMENT, "%s breaks %zu rule%s:", called, count, count == 1 ? "" : "s");
    for (i = 0; i < count; i++) {
        const json_t *fault = json_array_get(faults, i);
        const char *path = json_string_value(json_object_get(fault, "path"));
        const char *message = json_string_value(json_object_get(fault, "message"));

        put_plain(path != NULL && path[0] != '\0' ? path : "document");
        (void)fputs(": ", stderr);
        put_plain(message != NULL ? message : "");
        (void)fputc('\n', stderr);
    }
    json_decref(faults);
    return EXIT_DOCUMENT;
}
