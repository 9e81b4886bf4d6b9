/* multipart.c - see multipart.h. */
#include "http/multipart.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

int multipart_boundary(const char *type, char ret[MULTIPART_BOUNDARY_BYTES_MAX + 1])
{
    static const char form[] = "multipart/form-data";
    const char *at = type + strlen(form);
    size_t len;

    if (strncasecmp(type, form, strlen(form)) != 0) {
        return -1;
    }
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    if (*at++ != ';') {
        return -1;
    }
    while (*at == ' ' || *at == '\t') {
        at++;
    }
    if (strncasecmp(at, "boundary=", 9) != 0) {
        return -1;
    }
    at += 9;
    if (*at == '"') {
        at++;
        len = strcspn(at, "\"");
        if (at[len] != '"' || at[len + 1] != '\0') {
            return -1;
        }
    } else {
        len = strlen(at);
    }
    if (len == 0 || len > MULTIPART_BOUNDARY_BYTES_MAX ||
        strspn(at, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=?") <
            len) {
        return -1;
    }
    memcpy(ret, at, len);
    ret[len] = '\0';
    return 0;
}

/* A quoted string at *at, unescaped in place; *at goes behind it. 0, or -1. */
static int quoted(char **at, char *end, char **ret, size_t *ret_len)
{
    char *from = *at, *to;

    if (from == end || *from != '"') {
        return -1;
    }
    *ret = to = ++from;
    for (; from < end && *from != '"'; from++) {
        if (*from == '\\' && end - from > 1 && (from[1] == '"' || from[1] == '\\')) {
            from++;
        }
        if ((unsigned char)*from < 0x20 || *from == 0x7f) {
            return -1;
        }
        *to++ = *from;
    }
    if (from == end) {
        return -1;
    }
    *ret_len = (size_t)(to - *ret);
    *at = from + 1;
    return 0;
}

/* form-data; name="a"; filename="b" */
static const char *read_disposition(struct multipart_part *part, char *at, char *end)
{
    static const char bad[] = "a Content-Disposition is not form-data with quoted names";

    if (end - at < 9 || strncasecmp(at, "form-data", 9) != 0) {
        return bad;
    }
    at += 9;
    while (at < end) {
        char **value;
        size_t *len;

        if (*at++ != ';') {
            return bad;
        }
        while (at < end && *at == ' ') {
            at++;
        }
        if (end - at > 5 && strncasecmp(at, "name=", 5) == 0) {
            at += 5;
            value = &part->name;
            len = &part->name_len;
        } else if (end - at > 9 && strncasecmp(at, "filename=", 9) == 0) {
            at += 9;
            value = &part->filename;
            len = &part->filename_len;
        } else {
            return "a Content-Disposition has something else than name and filename";
        }
        if (*value != NULL || quoted(&at, end, value, len) < 0) {
            return bad;
        }
    }
    return part->name != NULL ? NULL : bad;
}

/* The headers of a part; *at goes behind their end. */
static const char *read_head(struct multipart_part *part, char **at, char *end)
{
    char *head_end = memmem(*at, (size_t)(end - *at), "\r\n\r\n", 4);

    if (head_end == NULL || head_end - *at > MULTIPART_HEAD_BYTES_MAX) {
        return "the headers of a part do not end";
    }
    while (*at < head_end + 2) {
        char *line = *at;
        char *line_end = memmem(line, (size_t)(head_end + 2 - line), "\r\n", 2);
        const char *fault = NULL;

        if (memchr(line, '\0', (size_t)(line_end - line)) != NULL || *line == ' ' ||
            *line == '\t') {
            return "a header of a part is malformed";
        }
        if (line_end - line > 20 && strncasecmp(line, "Content-Disposition:", 20) == 0) {
            line += 20;
            while (line < line_end && *line == ' ') {
                line++;
            }
            fault = read_disposition(part, line, line_end);
        } else if (line_end - line > 26 &&
                   strncasecmp(line, "Content-Transfer-Encoding:", 26) == 0) {
            fault = "a part has a Content-Transfer-Encoding";
        }
        if (fault != NULL) {
            return fault;
        }
        *at = line_end + 2;
    }
    *at = head_end + 4;
    return part->name != NULL ? NULL : "a part has no name";
}

const char *multipart_read(struct multipart *form, char *text, size_t len, const char *boundary)
{
    char mark[MULTIPART_BOUNDARY_BYTES_MAX + 5];
    size_t mark_len = (size_t)snprintf(mark, sizeof(mark), "\r\n--%s", boundary);
    char *at = text, *end = text + len;

    form->count = 0;
    if (text == NULL || len < mark_len || memcmp(at, mark + 2, mark_len - 2) != 0) {
        return "it does not begin with its boundary";
    }
    at += mark_len - 2;
    for (;;) {
        struct multipart_part *part = &form->parts[form->count];
        const char *fault;
        char *next;

        if (end - at >= 2 && memcmp(at, "--", 2) == 0) {
            at += 2;
            return at == end || (end - at == 2 && memcmp(at, "\r\n", 2) == 0)
                       ? NULL
                       : "something follows its end";
        }
        if (end - at < 2 || memcmp(at, "\r\n", 2) != 0) {
            return "a boundary has something behind it";
        }
        at += 2;
        if (form->count == MULTIPART_PARTS_MAX) {
            return "it has more than 256 parts";
        }
        *part = (struct multipart_part){.name = NULL};
        fault = read_head(part, &at, end);
        if (fault != NULL) {
            return fault;
        }
        /* A part without content has its boundary right behind the empty line. */
        next = memmem(at - 2, (size_t)(end - at) + 2, mark, mark_len);
        if (next == NULL) {
            return "its last part does not end";
        }
        part->bytes = at;
        part->len = next >= at ? (size_t)(next - at) : 0;
        form->count++;
        at = next + mark_len;
    }
}

const struct multipart_part *multipart_find(const struct multipart *form, const char *name)
{
    size_t i;

    for (i = 0; i < form->count; i++) {
        if (form->parts[i].name_len == strlen(name) &&
            memcmp(form->parts[i].name, name, strlen(name)) == 0) {
            return &form->parts[i];
        }
    }
    return NULL;
}
