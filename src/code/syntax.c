/* syntax.c - see syntax.h. */
#include "code/syntax.h"

#include "base/clock.h"
#include "base/error.h"

/* The bytes of the character that can only be part of a word, or 0. Of the others it is not known
 * whether they separate words (there are such spaces behind 0xc2, 0xe1 to 0xe3 and 0xef) or are not
 * UTF-8. */
static size_t wide_letter_len(const unsigned char *bytes, size_t n)
{
    unsigned char c = bytes[0];
    int has_second = n > 1 && (bytes[1] & 0xc0) == 0x80;
    int has_third = has_second && n > 2 && (bytes[2] & 0xc0) == 0x80;

    if (c >= 0xc3 && c <= 0xdf) {
        return has_second ? 2 : 0;
    }
    return has_third && ((c >= 0xe4 && c <= 0xec) || c == 0xee) ? 3 : 0;
}

/* At least as many as the source has tokens and nested brackets, whatever a `"` or a `/` means in
 * it. */
static void measure(const char *source, size_t len, size_t *ret_tokens, size_t *ret_nesting)
{
    const unsigned char *bytes = (const unsigned char *)source;
    enum { SPACE, DIGIT, LETTER, SIGN } before = SPACE, now;
    size_t tokens = 0, open = 0, nesting = 0;
    size_t step;

    for (size_t i = 0; i < len; i += step) {
        unsigned char c = bytes[i];

        step = 1;
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            now = SPACE;
        } else if (c >= '0' && c <= '9') {
            now = DIGIT; /* apart from letters, since `1n1n` is two numbers */
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$') {
            now = LETTER;
        } else {
            size_t wide = wide_letter_len(bytes + i, len - i);

            now = wide > 0 ? LETTER : SIGN;
            step = wide > 0 ? wide : 1;
            open += c == '(' || c == '[' || c == '{';
            open -= open > 0 && (c == ')' || c == ']' || c == '}');
            nesting = open > nesting ? open : nesting;
        }
        tokens += now == SIGN || (now != SPACE && now != before);
        before = now;
    }
    *ret_tokens = tokens;
    *ret_nesting = nesting;
}

struct reading {
    const char *source;
    size_t len;
    size_t hidden; /* so many bytes at the start are shown as spaces */
    uint64_t until_us;
};

static const char *read_piece(void *payload, uint32_t at, TSPoint position, uint32_t *ret_len)
{
    static const char spaces[] = "                                                                ";
    const struct reading *r = payload;

    (void)position;
    if (at < r->hidden) {
        size_t n = r->hidden - at;

        *ret_len = (uint32_t)(n < sizeof(spaces) - 1 ? n : sizeof(spaces) - 1);
        return spaces;
    }
    *ret_len = at < r->len ? (uint32_t)(r->len - at) : 0;
    return r->source + (at < r->len ? at : r->len);
}

static bool is_late(TSParseState *state)
{
    const struct reading *r = state->payload;

    return clock_now_us() > r->until_us;
}

static int parse(const TSLanguage *language, struct reading *reading, const TSRange *ranges,
    uint32_t count, TSTree **ret, struct vial_error *err)
{
    TSInput input = {.payload = reading, .read = read_piece, .encoding = TSInputEncodingUTF8};
    TSParseOptions options = {.payload = reading, .progress_callback = is_late};
    size_t len = reading->len;
    size_t tokens, nesting;
    TSParser *parser;
    TSTree *tree;

    if (len > CODE_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a source of %zu bytes is too long to be read", len);
    }
    measure(reading->source, len, &tokens, &nesting);
    if (tokens > CODE_TOKENS_MAX || nesting > CODE_NESTING_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "a source of more than %d words and signs, or %d open brackets, is too large to be "
            "read",
            CODE_TOKENS_MAX, CODE_NESTING_MAX);
    }
    parser = ts_parser_new();
    if (!ts_parser_set_language(parser, language) ||
        !ts_parser_set_included_ranges(parser, ranges, count)) {
        ts_parser_delete(parser);
        return vial__fail(err, VIAL_E_CELL, "the grammar does not fit the tree-sitter library");
    }
    reading->until_us = clock_now_us() + (uint64_t)CODE_PARSE_MS_MAX * 1000;
    tree = ts_parser_parse_with_options(parser, NULL, input, options);
    ts_parser_delete(parser);
    if (tree == NULL) {
        return vial__fail(
            err, VIAL_E_INVALID, "the source takes longer than %d ms to read", CODE_PARSE_MS_MAX);
    }
    *ret = tree;
    return VIAL_OK;
}

int syntax_parse(const TSLanguage *language, const char *source, size_t len, size_t hidden,
    TSTree **ret, struct vial_error *err)
{
    struct reading reading = {.source = source, .len = len, .hidden = hidden};

    return parse(language, &reading, NULL, 0, ret, err);
}

int syntax_parse_excerpt(const TSLanguage *language, const char *source, size_t len,
    const TSRange *ranges, uint32_t count, TSTree **ret)
{
    struct reading reading = {.source = source, .len = len};

    if (parse(language, &reading, ranges, count, ret, NULL) < 0) {
        return 0;
    }
    if (ts_node_has_error(ts_tree_root_node(*ret))) {
        ts_tree_delete(*ret);
        return 0;
    }
    return 1;
}
