/* secret_name.c - see secret_name.h. */
#include "base/secret_name.h"

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

const char *secret_name_fault(const char *name, size_t len)
{
    size_t i;

    if (len == 0 || len > SECRET_NAME_BYTES_MAX) {
        return "has 1 to 64 bytes";
    }
    if (!is_letter(name[0])) {
        return "begins with a letter or _";
    }
    for (i = 1; i < len; i++) {
        if (!is_letter(name[i]) && (name[i] < '0' || name[i] > '9')) {
            return "has only letters, digits and _";
        }
    }
    return NULL;
}
