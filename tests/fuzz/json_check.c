/* json_check.c - is it JSON: a second opinion is jansson's.
 *
 * The two differ by design where jansson cannot hold what JSON can say: numbers beyond its own,
 * halves of surrogate pairs, names with a NUL in them, and nesting beyond 2048. The other way
 * round, jansson 2.14 takes a NUL behind a number for nothing, as in "[1\0]". */
#include <jansson.h>

#include "base/json.h"
#include "fuzz.h"

enum { JANSSON_DEPTH_MAX = 2048 };

/* Does jansson refuse it for one of the reasons above? */
static int is_known_difference(const json_error_t *error)
{
    enum json_error_code code = json_error_code(error);

    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
           code == json_error_stack_overflow || code == json_error_null_character ||
           strstr(error->text, "invalid Unicode '\\u") != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct json_fault fault = {.why = NULL};
    json_error_t error;
    json_t *tree;
    int r = json_check(text, size, JSON_CHECK_DEPTH_MAX, &fault);

    FUZZ_CHECK(json_check(text, size, JSON_CHECK_DEPTH_MAX, NULL) == r, "it depends on fault");
    if (r < 0) {
        FUZZ_CHECK(fault.why != NULL && fault.why[0] != '\0', "there is no reason");
        FUZZ_CHECK(fault.offset <= size, "the fault is behind the end");
        FUZZ_CHECK(fault.line >= 1 && fault.column >= 1, "places count from 1");
    }
    tree = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    FUZZ_CHECK(tree == NULL || r == 0 || memchr(text, '\0', size) != NULL,
        "jansson takes it, and we say: %s", fault.why);
    FUZZ_CHECK(
        tree != NULL || r < 0 || is_known_difference(&error), "jansson says: %s", error.text);
    FUZZ_CHECK(tree == NULL || r < 0 || json_check(text, size, JANSSON_DEPTH_MAX, NULL) == 0,
        "it is deeper than jansson goes");
    json_decref(tree);
    return 0;
}
