/* pattern.c - see pattern.h; this compiles and matches. pattern_rewrite.c has the rules of
 * ECMA-262. */
#include "schema/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "schema/pattern_rewrite.h"
#include "schema/show.h"

enum {
    /* \S takes the most room, 150 bytes for two. */
    REWRITTEN_BYTES_MAX = PATTERN_BYTES_MAX * 80,
    /* All matches of one check together may take this long: an instance has many strings, and each
     * of them may come near to PATTERN_STEPS. */
    WORK_US_MAX = 500 * 1000,
};

struct pattern {
    pcre2_code *code;
};

static int compile(struct pattern *pattern, const struct buf *text, const char *source,
    size_t source_len, struct vial_error *err)
{
    uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                       PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP;
    PCRE2_UCHAR why[120];
    struct show shown;
    PCRE2_SIZE offset;
    int code;

    pattern->code = pcre2_compile(
        (PCRE2_SPTR)(text->len > 0 ? text->data : ""), text->len, options, &code, &offset, NULL);
    if (pattern->code != NULL) {
        return VIAL_OK;
    }
    if (code == PCRE2_ERROR_NOMEMORY) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a regular expression");
    }
    (void)pcre2_get_error_message(code, why, sizeof(why));
    return vial__fail(err, VIAL_E_INVALID, "%s is no regular expression: %s",
        show_text(&shown, source, source_len), (const char *)why);
}

int pattern_new(const char *text, size_t len, struct pattern **ret, struct vial_error *err)
{
    struct pattern *pattern = NULL;
    struct buf rewritten;
    int r;

    if (len > PATTERN_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "the regular expression has %zu bytes; at most %d are taken", len, PATTERN_BYTES_MAX);
    }
    buf_init(&rewritten, REWRITTEN_BYTES_MAX);
    r = pattern_rewrite(text, len, &rewritten, err);
    if (r < 0) {
        goto out;
    }
    pattern = calloc(1, sizeof(*pattern));
    if (pattern == NULL) {
        r = vial__fail(err, VIAL_E_NOMEM, "no memory for a regular expression");
        goto out;
    }
    r = compile(pattern, &rewritten, text, len, err);
    if (r == VIAL_OK) {
        *ret = pattern;
        pattern = NULL;
    }
out:
    pattern_free(pattern);
    buf_release(&rewritten);
    return r;
}

void pattern_free(struct pattern *pattern)
{
    if (pattern != NULL) {
        pcre2_code_free(pattern->code);
        free(pattern);
    }
}

static int prepare(struct pattern_work *work, struct vial_error *err)
{
    pcre2_match_context *limits;

    if (work->match == NULL) {
        work->match = pcre2_match_data_create(1, NULL); /* where it matches is of no interest */
    }
    if (work->limits == NULL) {
        work->limits = limits = pcre2_match_context_create(NULL);
        if (limits != NULL) {
            (void)pcre2_set_heap_limit(limits, PATTERN_HEAP_KIB_MAX);
        }
    }
    if (work->match == NULL || work->limits == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to match a regular expression");
    }
    return VIAL_OK;
}

int pattern_match(const struct pattern *pattern, const char *subject, size_t len,
    struct pattern_work *work, struct vial_error *err)
{
    uint64_t start = clock_now_us();
    int r = prepare(work, err);

    if (r < 0) {
        return r;
    }
    if (work->us > WORK_US_MAX) {
        return vial__fail(
            err, VIAL_E_INVALID, "its regular expressions take too long on this value");
    }
    (void)pcre2_set_match_limit(
        work->limits, PATTERN_STEPS + PATTERN_STEPS_PER_BYTE * (uint32_t)len);
    r = pcre2_match(pattern->code, (PCRE2_SPTR)subject, len, 0, 0, work->match, work->limits);
    work->us += clock_now_us() - start;
    if (r >= 0) {
        return 1;
    }
    if (r == PCRE2_ERROR_NOMATCH || (r <= PCRE2_ERROR_UTF8_ERR1 && r >= PCRE2_ERROR_UTF8_ERR21)) {
        return 0;
    }
    if (r == PCRE2_ERROR_NOMEMORY) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to match a regular expression");
    }
    return vial__fail(err, VIAL_E_INVALID,
        "its regular expression takes too many steps on a text of %zu bytes", len);
}

void pattern_work_release(struct pattern_work *work)
{
    pcre2_match_data_free(work->match);
    pcre2_match_context_free(work->limits);
    *work = (struct pattern_work){.us = 0};
}
