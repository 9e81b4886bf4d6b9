/* name.c - see name.h. */
#include "base/name.h"

#include <string.h>

#include "base/utf8.h"

/* Control characters drive terminals; those from U+0080 to U+009F are two bytes. */
static int has_controls(const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        unsigned char next = i + 1 < len ? (unsigned char)name[i + 1] : 0;

        if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) {
            return 1;
        }
    }
    return 0;
}

static const char *part_fault(const char *part, size_t len)
{
    if (len == 0) {
        return "has an empty part";
    }
    if (len > FILE_NAME_PART_BYTES_MAX) {
        return "has a part of more than 255 bytes";
    }
    if (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.'))) {
        return "has a part that is . or ..";
    }
    return NULL;
}

const char *name_fault(const char *name, size_t len)
{
    const char *end = name + len;
    const char *slash, *fault;
    unsigned parts = 0;

    if (len == 0) {
        return "is empty";
    }
    if (len > FILE_NAME_BYTES_MAX) {
        return "has more than 4096 bytes";
    }
    if (name[0] == '/') {
        return "is absolute";
    }
    if (!utf8_valid(name, len, NULL)) {
        return "is not UTF-8";
    }
    if (has_controls(name, len)) {
        return "has a control character";
    }
    for (;;) {
        slash = memchr(name, '/', (size_t)(end - name));
        fault = part_fault(name, (size_t)((slash != NULL ? slash : end) - name));
        if (fault != NULL) {
            return fault;
        }
        if (++parts > FILE_NAME_PARTS_MAX) {
            return "has more than 64 parts";
        }
        if (slash == NULL) {
            return NULL;
        }
        name = slash + 1;
    }
}

const char *name_part_fault(const char *name, size_t len)
{
    return len > FILE_NAME_PART_BYTES_MAX              ? "has more than 255 bytes"
           : len > 0 && memchr(name, '/', len) != NULL ? "has a slash"
                                                       : name_fault(name, len);
}

const char *name_beneath(const char *path, size_t len, const char *directory, size_t *ret_len)
{
    size_t n = strlen(directory);

    if (len > 0 && path[0] == '/') {
        if (len < n || memcmp(path, directory, n) != 0 || (len > n && path[n] != '/')) {
            return NULL;
        }
        path += n;
        len -= n;
        while (len > 0 && path[0] == '/') {
            path++;
            len--;
        }
    }
    while (len > 0 && path[0] == '.' && (len == 1 || path[1] == '/')) {
        path++;
        len--;
        while (len > 0 && path[0] == '/') {
            path++;
            len--;
        }
    }
    while (len > 0 && path[len - 1] == '/') {
        len--;
    }
    *ret_len = len;
    return path;
}
