/* scan_source.c - any bytes as a source, held against the rules that vial has for JavaScript.
 *
 * Excerpts are pieces of the source in order, and have its places in them; what is found in the
 * whole and in an excerpt are places in the source. Statements of Python are looked for, too. */
#include "code/excerpt.h"
#include "code/parse.h"
#include "code/scanner.h"
#include "fuzz.h"

enum { PLACES_MAX = 64 };

extern const char SCAN_RULES[]; /* made of share/rules */

static struct scanner *scanner;
static struct findings findings;

static struct scanner *our_scanner(void)
{
    struct scanner *s =
        scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT | SCANNER_TYPESCRIPT);

    FUZZ_CHECK(s != NULL && scanner_add(s, "vial", SCAN_RULES, strlen(SCAN_RULES), NULL) == 0,
        "our own rules cannot be used");
    return s;
}

static void check_excerpt(
    const struct excerpt *e, size_t len, const uint32_t *places, size_t places_count)
{
    uint32_t end = 0;
    size_t bytes = 0, place = 0;

    FUZZ_CHECK(e->count > 0 && e->count <= EXCERPT_RANGES_MAX, "%u ranges", e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        const TSRange *r = &e->ranges[i];

        FUZZ_CHECK(
            r->start_byte < r->end_byte && r->end_byte <= len && (i == 0 || r->start_byte > end),
            "range %u is %u to %u of %zu", i, r->start_byte, r->end_byte, len);
        while (place < places_count && places[place] < r->end_byte) {
            /* What is in front of the first statement, a comment, is in none. */
            FUZZ_CHECK(
                places[place] >= r->start_byte || i == 0, "place %u is in no range", places[place]);
            place++;
        }
        end = r->end_byte;
        bytes += r->end_byte - r->start_byte;
    }
    FUZZ_CHECK(
        bytes == e->bytes && place == places_count, "%zu of %zu places", place, places_count);
}

static void scan(TSTree *tree, const char *text, size_t len, const struct excerpt *e)
{
    struct scanner_source source = {.name = "a.js",
        .name_len = 4,
        .text = text,
        .len = len,
        .language = SCANNER_JAVASCRIPT,
        .pieces = e != NULL ? e->ranges : NULL,
        .pieces_count = e != NULL ? e->count : 0};

    memset(&findings, 0, sizeof(findings));
    scanner_scan(scanner, ts_tree_root_node(tree), &source, &findings);
    findings_sort(&findings);
    for (size_t i = 0; i < findings.count; i++) {
        const struct finding *f = &findings.items[i];

        FUZZ_CHECK(f->at <= len && f->line >= 1 && f->line <= len + 1 && f->column >= 1 &&
                       f->column <= 2 * len + 1,
            "%s at %u, %u:%u of %zu bytes", f->id, f->at, f->line, f->column, len);
        FUZZ_CHECK(f->severity < SEVERITY_OFF && strlen(f->text) <= SCANNER_TEXT_BYTES_MAX,
            "%s says %s", f->id, f->text);
    }
}

static void check(const char *text, size_t len)
{
    uint32_t places[PLACES_MAX];
    struct excerpt e;
    TSTree *tree = NULL;
    int count;

    scanner = scanner != NULL ? scanner : our_scanner();
    count = scanner_places(scanner, text, len, 1, places, PLACES_MAX);
    if (count > 0 && excerpt_make_python(text, len, places, (size_t)count, &e) == 0) {
        check_excerpt(&e, len, places, (size_t)count);
    }
    if (count > 0 && excerpt_make_js(text, len, places, (size_t)count, &e) == 0) {
        check_excerpt(&e, len, places, (size_t)count);
        if (syntax_parse_excerpt(tree_sitter_javascript(), text, len, e.ranges, e.count, &tree)) {
            scan(tree, text, len, &e);
            ts_tree_delete(tree);
        }
    }
    if (code_parse(tree_sitter_javascript(), text, len, &tree, NULL) == 0) {
        scan(tree, text, len, NULL);
        ts_tree_delete(tree);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    /* With a NUL behind it, as in a cell: the sanitizer reads up to one for regexec(), whatever
     * that itself was told. */
    char *text = calloc(in.left + 1, 1);

    FUZZ_CHECK(text != NULL, "there is no memory");
    memcpy(text, in.at, in.left);
    check(text, in.left);
    free(text);
    return 0;
}
