/* document.c - environment documents: read or refused with a report, which is JSON. */
#include "policy/document.h"

#include "base/json.h"
#include "fuzz.h"
#include "host/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vial_error err = {.code = 0};
    struct document *doc = NULL;
    struct buf report;
    size_t i;
    int r;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    r = catalog_parse((const char *)data, size, &doc, &report, &err);
    FUZZ_CHECK(report.data != NULL && json_check(report.data, report.len, 8, NULL) == 0,
        "the report is not JSON: %.300s", report.data);
    if (r == 0) {
        FUZZ_CHECK(doc != NULL && strcmp(report.data, "[]") == 0, "a report: %s", report.data);
        FUZZ_CHECK(doc->name != NULL && doc->prefix != NULL, "something is missing");
        for (i = 0; i < doc->tools_count; i++) {
            (void)document_allows_tool(doc, doc->tools[i].name);
        }
    } else {
        FUZZ_CHECK(doc == NULL, "a document that was refused is there");
        FUZZ_CHECK(r == VIAL_E_INVALID && err.text[0] != '\0', "%d: %s", r, err.text);
        FUZZ_CHECK(strcmp(report.data, "[]") != 0, "there is no reason: %s", err.text);
    }
    document_free(doc);
    buf_release(&report);
    return 0;
}
