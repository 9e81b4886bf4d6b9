/* scan_rules.c - files of scan rules: their headers, queries and conditions.
 *
 * A file that is refused says in which line and why. One that is taken is held against a source,
 * and whatever it finds is a place in that source. */
#include "code/parse.h"
#include "code/scanner.h"
#include "fuzz.h"

/* Tree-sitter forgets a byte or two when it refuses a query. That it is given everything back that
 * it has made is seen by the unit tests, under the same sanitizer. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:ts_malloc_default\nleak:ts_calloc_default\nleak:ts_realloc_default\n";
}

static const char SOURCE[] = "import fs from 'node:fs';\n"
                             "class A { m(x) { while (true) { eval(`${x}`); } } }\n"
                             "const key = 'abcdefghijklmnopqrstuvwxyz', r = /(a+)+$/;\n"
                             "try { new Function('return 1')(); } catch { f(1, [2], {a: b.c}); }\n";

static void check_findings(const struct findings *f)
{
    FUZZ_CHECK(f->count <= SCANNER_FINDINGS_MAX, "%zu findings", f->count);
    for (size_t i = 0; i < f->count; i++) {
        const struct finding *found = &f->items[i];

        FUZZ_CHECK(found->id[0] != '\0' && found->severity < SEVERITY_OFF, "a finding of no rule");
        FUZZ_CHECK(found->at < sizeof(SOURCE) && found->line >= 1 && found->line <= 5 &&
                       found->column >= 1,
            "a finding at %u, %u:%u", found->at, found->line, found->column);
        FUZZ_CHECK(strlen(found->text) <= SCANNER_TEXT_BYTES_MAX, "a text that is too long");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct findings findings;
    const struct scanner_source source = {.name = "a.js",
        .name_len = 4,
        .text = SOURCE,
        .len = sizeof(SOURCE) - 1,
        .language = SCANNER_JAVASCRIPT};
    struct fuzz_input in = fuzz_input(data, size);
    struct scanner *s =
        scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT | SCANNER_TYPESCRIPT);
    struct vial_error err = {.code = 0};
    TSTree *tree = NULL;

    FUZZ_CHECK(s != NULL, "there is no memory");
    memset(&findings, 0, sizeof(findings));
    if (scanner_add(s, "fuzz", in.at, in.left, &err) < 0) {
        FUZZ_CHECK(
            strncmp(err.text, "fuzz, line ", 11) == 0, "it does not say where: %s", err.text);
        scanner_free(s);
        return 0;
    }
    FUZZ_CHECK(code_parse(tree_sitter_javascript(), SOURCE, sizeof(SOURCE) - 1, &tree, NULL) == 0,
        "our own source cannot be read");
    scanner_scan(s, ts_tree_root_node(tree), &source, &findings);
    check_findings(&findings);
    ts_tree_delete(tree);
    scanner_free(s);
    return 0;
}
