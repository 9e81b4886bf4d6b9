/* trace.c - see trace.h. */
#include "base/trace.h"

#include <string.h>

int trace_is_valid(const char *text)
{
    static const char form[] = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
    size_t i;

    if (strnlen(text, sizeof(form)) != strlen(form) || strncmp(text, "00-", 3) != 0) {
        return 0;
    }
    for (i = 0; form[i] != '\0'; i++) {
        int is_hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');

        if (form[i] == 'h' ? !is_hex : text[i] != form[i]) {
            return 0;
        }
    }
    return strncmp(text + 3, "00000000000000000000000000000000", 32) != 0 &&
           strncmp(text + 36, "0000000000000000", 16) != 0;
}
