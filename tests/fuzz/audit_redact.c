/* audit_redact.c - a value on its way into the audit: whatever it is, what is kept is JSON on one
 * line within its bound, and what is behind a name that is redacted is not in it. */
#include <jansson.h>

#include "base/json.h"
#include "fuzz.h"
#include "policy/audit_rules.h"

static int is_secret(const char *name)
{
    return strcasecmp(name, "secret") == 0 || strncasecmp(name, "t_", 2) == 0;
}

/* By a parser of somebody else's: each value behind such a name is the text that says so. */
static void check_tree(const json_t *value, unsigned depth)
{
    const char *name;
    json_t *inner;
    size_t i;

    FUZZ_CHECK(depth < 2000, "too deep");
    json_object_foreach((json_t *)(uintptr_t)value, name, inner)
    {
        if (is_secret(name)) {
            FUZZ_CHECK(json_is_string(inner) && strcmp(json_string_value(inner), "[redacted]") == 0,
                "%s is not redacted", name);
        }
        check_tree(inner, depth + 1);
    }
    json_array_foreach(value, i, inner)
    {
        check_tree(inner, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char first[] = "Secret", second[] = "t_*", *patterns[] = {first, second};
    const struct audit_rules rules = {.redact = patterns, .redact_count = 2};
    struct buf out;
    json_t *tree;
    int r;

    buf_init(&out, AUDIT_VALUE_BYTES_MAX + 64);
    r = audit_redact(&rules, (const char *)data, size, &out, NULL);
    FUZZ_CHECK(r == VIAL_OK, "it failed with %d", r);
    FUZZ_CHECK(out.len <= AUDIT_VALUE_BYTES_MAX, "%zu bytes", out.len);
    FUZZ_CHECK(json_check(out.data, out.len, 1000, NULL) == 0, "not JSON: %s", out.data);
    FUZZ_CHECK(memchr(out.data, '\n', out.len) == NULL, "more than one line");
    tree = json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (tree != NULL) { /* jansson knows no numbers like 1e999 and no lone surrogates */
        check_tree(tree, 0);
        json_decref(tree);
    }
    buf_release(&out);
    return 0;
}
