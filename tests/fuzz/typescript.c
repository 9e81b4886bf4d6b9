/* typescript.c - taking types out: nothing moves but by what is said to be inserted, what was
 * JavaScript before is JavaScript afterwards, and a second time there is nothing to take out. */
#include "code/typescript.h"

#include "base/utf8.h"
#include "code.h"

enum { OUT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *source = (const char *)data;
    struct vial_error err = {.code = 0};
    struct buf out, edits;
    int has_types = 0;
    uint32_t line = 0;

    if (!utf8_valid(source, size, NULL)) {
        return 0;
    }
    buf_init(&out, OUT_MAX);
    buf_init(&edits, OUT_MAX);
    if (typescript_erase(source, size, &out, &edits, &has_types, &line, &err) < 0) {
        FUZZ_CHECK(err.text[0] != '\0' && line >= 1, "there is no reason or no place");
        FUZZ_CHECK(out.len == 0 && edits.len == 0, "a failure left something behind");
    } else if (has_types) {
        code_check_lines(source, size, out.data, out.len, &edits, 0);
        /* The grammar takes the word enum for a name, which it is in no JavaScript, and a carriage
         * return alone for no end of a line, which it is. */
        FUZZ_CHECK(memmem(source, size, "enum", 4) != NULL || memchr(source, '\r', size) != NULL ||
                       !code_is_clean(source, size) || code_is_clean(out.data, out.len),
            "it was JavaScript before: %s", out.data);
    } else {
        FUZZ_CHECK(out.len == 0 && edits.len == 0, "there is a text without types");
    }
    buf_release(&out);
    buf_release(&edits);
    return 0;
}
