/* documents.h - what the tests of documents share: a document that must pass, and one that must
 * break a rule at a certain place. Apostrophes stand for quotes, to keep the tests readable. */
#ifndef VIAL_TESTS_DOCUMENTS_H
#define VIAL_TESTS_DOCUMENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "policy/document.h"

/* A copy with quotes instead of apostrophes. */
static inline char *documents_quote(const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    for (size_t i = 0; copy[i] != '\0'; i++) {
        copy[i] = (char)(copy[i] == '\'' ? '"' : copy[i]);
    }
    return copy;
}

/* Parses a document that must pass. */
static inline struct document *documents_pass(const char *text)
{
    char *json = documents_quote(text);
    struct document *doc = NULL;
    struct vial_error err;
    struct buf report;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (document_parse(json, strlen(json), NULL, &doc, &report, &err) < 0) {
        fail_msg("%s: %s", text, report.data != NULL ? report.data : err.text);
    }
    assert_string_equal(report.data, "[]");
    buf_release(&report);
    free(json);
    return doc;
}

static inline void documents_accept(const char *text)
{
    document_free(documents_pass(text));
}

/* Parses a document that must not pass; the report, owned by the caller. */
static inline char *documents_report(const char *text)
{
    char *json = documents_quote(text);
    struct document *doc = NULL;
    struct vial_error err = {.code = 0};
    struct buf report;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (document_parse(json, strlen(json), NULL, &doc, &report, &err) != VIAL_E_INVALID) {
        fail_msg("%s was not refused", text);
    }
    assert_null(doc);
    assert_int_equal(err.code, VIAL_E_INVALID);
    free(json);
    return report.data;
}

/* Exactly one fault, at that path, whose message has those words. */
static inline void documents_refuse(const char *text, const char *path, const char *words)
{
    char *report = documents_report(text);
    char start[512];

    (void)snprintf(start, sizeof(start), "[{\"path\":\"%s\",\"message\":\"", path);
    if (strncmp(report, start, strlen(start)) != 0 || strstr(report, words) == NULL ||
        strstr(report + 1, "{\"path\"") != report + 1 || strstr(report + 2, "{\"path\"") != NULL) {
        fail_msg("%s\ngave %s\ninstead of %s...%s", text, report, start, words);
    }
    free(report);
}

#endif
