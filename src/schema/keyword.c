/* keyword.c - see keyword.h. */
#include "schema/keyword.h"

#include <string.h>

#include "base/near.h"

/* Those that decide whether a value is valid. */
static const char *const deciding[] = {"$ref", "$defs", "additionalItems", "additionalProperties",
    "allOf", "anyOf", "const", "contains", "definitions", "dependencies", "dependentRequired",
    "dependentSchemas", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "items",
    "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems",
    "minLength", "minProperties", "minimum", "multipleOf", "oneOf", "pattern", "patternProperties",
    "prefixItems", "properties", "propertyNames", "required", "type", "unevaluatedItems",
    "unevaluatedProperties", "uniqueItems"};

/* These too, but too short or too common as words to guess by; and annotations. */
static const char *const others[] = {"$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id",
    "$recursiveAnchor", "$recursiveRef", "$schema", "$vocabulary", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "deprecated", "description", "discriminator",
    "else", "enumDescriptions", "enumNames", "errorMessage", "example", "examples", "externalDocs",
    "id", "if", "markdownDescription", "not", "nullable", "readOnly", "then", "title", "writeOnly",
    "xml"};

enum {
    WORD_BYTES_MAX = 64,
    SHORT_BYTES = 5, /* words up to this length are guessed at only when hardly changed */
    MIDDLE_BYTES = 8,
    LONG_BYTES = 14,
    NOT_MEANT = 100,
};

static int is_in(const char *const *list, size_t count, const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strlen(list[i]) == len && memcmp(list[i], name, len) == 0) {
            return 1;
        }
    }
    return 0;
}

int keyword_is_known(const char *name, size_t len)
{
    return is_in(deciding, sizeof(deciding) / sizeof(deciding[0]), name, len) ||
           is_in(others, sizeof(others) / sizeof(others[0]), name, len);
}

/* The word in its letters only: additional_properties and Additional-Properties are the same. */
static size_t letters_of(const char *name, size_t len, char *out)
{
    size_t n = 0, i;

    for (i = 0; i < len; i++) {
        if (name[i] != '_' && name[i] != '-' && name[i] != ' ') {
            out[n++] = name[i];
        }
    }
    return n;
}

/* Letters of a short word that changed places, or an s too many or too few. */
static int is_slip(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t shorter = a_len < b_len ? a_len : b_len;
    const char *longer = a_len > b_len ? a : b;

    if (a_len == b_len) {
        return near_distance(a, a_len, b, b_len, 1) <= 1 && memcmp(a, b, a_len) != 0 &&
               a[a_len - 1] != '\0' && strspn(a, b) >= a_len;
    }
    return (a_len > b_len ? a_len - b_len : b_len - a_len) == 1 && longer[shorter] == 's' &&
           near_distance(a, shorter, b, shorter, 0) == 0;
}

/* How many errors are between a word and a keyword; more than any tolerance when it is not meant.
 */
static unsigned errors_of(const char *word, size_t len, const char *keyword)
{
    size_t known = strlen(keyword);
    unsigned max, d;

    if (near_distance(word, len, keyword, known, 0) == 0) {
        return 0;
    }
    if (known <= SHORT_BYTES) {
        return is_slip(word, len, keyword, known) ? 1 : NOT_MEANT;
    }
    max = known <= MIDDLE_BYTES ? 1 : known <= LONG_BYTES ? 2 : 3;
    d = near_distance(word, len, keyword, known, max);
    return d <= max ? d : NOT_MEANT;
}

const char *keyword_meant(const char *name, size_t len)
{
    char word[WORD_BYTES_MAX + 1] = "";
    const char *best = NULL;
    unsigned least = NOT_MEANT, d;
    size_t i, n;

    if (len > WORD_BYTES_MAX || (len > 2 && memcmp(name, "x-", 2) == 0)) {
        return NULL;
    }
    n = letters_of(name, len, word);
    word[n] = '\0';
    for (i = 0; n > 0 && i < sizeof(deciding) / sizeof(deciding[0]); i++) {
        d = errors_of(word, n, deciding[i]);
        if (d < least) {
            least = d;
            best = deciding[i];
        }
    }
    return best;
}

const char *keyword_refused(const char *name, size_t len)
{
    static const char *const rows[][2] = {
        {"unevaluatedProperties",
            "it needs to know what all other keywords looked at; write additionalProperties"},
        {"unevaluatedItems", "it needs to know what all other keywords looked at; write items"},
        {"$dynamicRef", "write $ref"}, {"$recursiveRef", "write $ref"}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i][0]) == len && memcmp(rows[i][0], name, len) == 0) {
            return rows[i][1];
        }
    }
    return NULL;
}
