/* schema.c - JSON Schemas, values checked with them, and the declarations made of them.
 *
 * The input is a schema, a line of its own that is "---", and a value. */
#include "schema/schema.h"

#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "schema/stubs.h"

enum { STUBS_MAX = 4 << 20 };

static void check_value(const struct schema *schema, const char *value, size_t len)
{
    struct vial_error err = {.code = 0};
    struct buf report, text;
    int plain = schema_check(schema, value, len, NULL, NULL);
    int r;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    r = schema_check(schema, value, len, &report, &err);
    FUZZ_CHECK(r == plain, "it depends on whether a report is wanted: %d, %d", plain, r);
    FUZZ_CHECK(r >= 0 || err.text[0] != '\0', "there is no reason");
    if (r == 1) {
        FUZZ_CHECK(json_check(report.data, report.len, 8, NULL) == 0,
            "the report is not JSON: %.300s", report.data);
        FUZZ_CHECK(schema_report_text(report.data, report.len, &text, &err) == 0 && text.len > 0,
            "the report has no text: %s", err.text);
        FUZZ_CHECK(utf8_valid(text.data, text.len, NULL), "the text is not UTF-8");
    } else {
        FUZZ_CHECK(report.len == 0, "a report without a problem: %s", report.data);
    }
    buf_release(&report);
    buf_release(&text);
}

static void write_stubs(const char *json)
{
    const struct stub_tool tools[] = {
        {.name = "crm.find", .description = json, .input = json, .output = json},
        {.name = "crm.put", .input = json, .sync = 1, .approve = 1},
    };
    struct buf out;
    int language;

    for (language = STUB_TYPESCRIPT; language <= STUB_PYTHON; language++) {
        buf_init(&out, STUBS_MAX);
        if (stubs_write(tools, 2, (enum stub_language)language, &out, NULL) == 0) {
            FUZZ_CHECK(utf8_valid(out.data, out.len, NULL), "a stub is not UTF-8");
        }
        buf_clear(&out);
        (void)!stubs_describe(&tools[0], (enum stub_language)language, &out, NULL);
        buf_release(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *mark = size > 0 ? memmem(text, size, "\n---\n", 5) : NULL;
    size_t len = mark != NULL ? (size_t)(mark - text) : size;
    struct vial_error err = {.code = 0};
    struct schema *schema = NULL;
    char *json = malloc(len + 1);
    size_t i;

    FUZZ_CHECK(json != NULL, "there is no memory");
    memcpy(json, text, len);
    json[len] = '\0';
    if (schema_compile(json, len, &schema, &err) == 0) {
        for (i = 0; i < schema_property_count(schema); i++) {
            FUZZ_CHECK(schema_property_name(schema, i) != NULL, "a property without a name");
        }
        (void)schema_is_object(schema);
        if (mark != NULL) {
            check_value(schema, mark + 5, size - len - 5);
        }
        check_value(schema, json, len); /* a schema is a value, too */
        if (memchr(json, '\0', len) == NULL) {
            write_stubs(json);
        }
    } else {
        FUZZ_CHECK(err.text[0] != '\0', "there is no reason");
    }
    schema_free(schema);
    free(json);
    return 0;
}
