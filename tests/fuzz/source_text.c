/* source_text.c - what is told of a source without reading it as a tree: is it complete, is it
 * TypeScript; and names of modules, by one line each for the referrer and the name. */
#include "base/utf8.h"
#include "code/incomplete.h"
#include "code/module.h"
#include "code/script.h"
#include "code/specifier.h"
#include "code/typescript.h"
#include "fuzz.h"

/* A full name is the name of itself, and stays where it is. */
static void check_specifier(const char *text, size_t len)
{
    struct fuzz_input in = {.at = text, .left = len};
    struct buf referrer, name, again;
    const char *line;
    size_t line_len;

    buf_init(&referrer, 2 * SPECIFIER_BYTES_MAX);
    buf_init(&name, 2 * SPECIFIER_BYTES_MAX);
    buf_init(&again, 2 * SPECIFIER_BYTES_MAX);
    line = fuzz_until(&in, '\n', &line_len);
    if (specifier_resolve_own(line, line_len, &referrer) == NULL &&
        specifier_resolve(in.at, in.left, referrer.data, referrer.len, &name) == NULL) {
        FUZZ_CHECK(name.len > 0 && name.len <= SPECIFIER_BYTES_MAX, "%zu bytes", name.len);
        FUZZ_CHECK(memmem(name.data, name.len, "/../", 4) == NULL, "it leads up: %s", name.data);
        FUZZ_CHECK(specifier_resolve(name.data, name.len, NULL, 0, &again) == NULL,
            "the full name %s is none", name.data);
        FUZZ_CHECK(again.len == name.len && memcmp(again.data, name.data, name.len) == 0,
            "%s means %s", name.data, again.data);
    }
    buf_release(&referrer);
    buf_release(&name);
    buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    check_specifier(text, size);
    if (!utf8_valid(text, size, NULL)) {
        return 0;
    }
    (void)session_is_incomplete(text, size);
    (void)python_is_incomplete(text, size);
    (void)typescript_is_likely(text, size);
    (void)module_may_be(text, size);
    (void)script_may_need_wrap(text, size);
    return 0;
}
