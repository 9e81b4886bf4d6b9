/* pattern.c - regular expressions of schemas: an expression, a line break, and a text. Whatever
 * they are, an answer comes in time: libFuzzer's own limit is what fails otherwise. */
#include "schema/pattern.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct vial_error err = {.code = 0};
    struct pattern_work work = {0};
    struct pattern *pattern = NULL;
    const char *text;
    size_t len;
    int first, second;

    text = fuzz_until(&in, '\n', &len);
    if (pattern_new(text, len, &pattern, &err) == 0) {
        first = pattern_match(pattern, in.at, in.left, &work, &err);
        FUZZ_CHECK(first >= 0 || err.text[0] != '\0', "there is no reason");
        second = pattern_match(pattern, in.at, in.left, &work, &err);
        FUZZ_CHECK(first == second, "it matches %d, then %d", first, second);
    } else {
        FUZZ_CHECK(err.text[0] != '\0', "there is no reason");
    }
    pattern_free(pattern);
    pattern_work_release(&work);
    return 0;
}
