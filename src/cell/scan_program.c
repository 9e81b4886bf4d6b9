/* scan_program.c - see scan_program.h. */
#include "cell/scan_program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cell/calls.h"
#include "wire/field.h"
#include "wire/frame.h"

enum {
    NAME_BYTES_MAX = 200, /* of a source, shown with its findings */
    PLACES_MAX = 64,      /* a source with more words of rules is read as a whole */
};

static const char RULES_NAME[] = "vial"; /* what faults of our own rules would be reported with */

/* Something that both languages can read, with a word that rules are about in most of its
 * statements: what is read of it is as much as of most programs that have such a word. */
#define REHEARSAL_LINE "f(a.b[1], {'k': [x + 1, 'text', g(y)]}, h('name'));\n"
#define REHEARSAL_WORD "x = eval(a.b[1], {'k': [x + 1, 'text', (g)(y)]}, h('name'));\n"
#define SCAN_REHEARSAL                                                                             \
    REHEARSAL_LINE REHEARSAL_WORD REHEARSAL_WORD REHEARSAL_WORD REHEARSAL_LINE REHEARSAL_WORD      \
        REHEARSAL_WORD REHEARSAL_WORD REHEARSAL_LINE

static struct scanner *scanner; /* NULL: not compiled yet */
static struct findings findings;

/* ---- rules ---- */

static int prepare(struct vial_error *err)
{
    struct scanner *made;
    int r;

    if (scanner != NULL) {
        return VIAL_OK;
    }
    made = scanner_new(SCAN.grammar(), SCAN.languages);
    if (made == NULL) {
        _exit(1); /* a cell without memory ends, and the host says so */
    }
    r = scanner_add(made, RULES_NAME, SCAN_RULES, strlen(SCAN_RULES), err);
    if (r < 0) {
        scanner_free(made);
        return r;
    }
    scanner = made;
    return VIAL_OK;
}

void scan_warm(void)
{
    static int is_done;

    if (!is_done) {
        is_done = 1;
        (void)!prepare(NULL); /* a cell that is to scan says what is wrong */
        scan_touch();
    }
}

/* The rules that came with the start message. */
static int add_rules(const struct guest_start *start, struct vial_error *err)
{
    char name[NAME_BYTES_MAX + 1] = "";
    struct field f;
    size_t at = 0;
    int r = VIAL_OK;

    while (r == VIAL_OK && field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag == FIELD_SCAN_RULES_NAME) {
            size_t n = f.len < NAME_BYTES_MAX ? f.len : NAME_BYTES_MAX;

            memcpy(name, f.bytes, n);
            name[n] = '\0';
        } else if (f.tag == FIELD_SCAN_RULES) {
            r = scanner_add(scanner, name, f.bytes, f.len, err);
        }
    }
    return r;
}

/* ---- what programs may import ---- */

/* Is name this one, or inside of it? */
static int is_beneath(const char *name, size_t len, const char *root, size_t root_len)
{
    return len >= root_len && memcmp(name, root, root_len) == 0 &&
           (len == root_len || name[root_len] == '.');
}

/* By the names in the start message, and the modules that came with the program. */
static int may_import(const char *name, size_t len, void *user)
{
    const struct guest_start *start = user;
    struct field f;
    size_t at = 0;

    while (field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if ((f.tag == FIELD_ALLOWED_IMPORT || f.tag == FIELD_MODULE_NAME) && f.len > 0 &&
            is_beneath(name, len, f.bytes, f.len)) {
            return 1;
        }
    }
    return 0;
}

static int is_restricted(const struct guest_start *start)
{
    struct field f;
    size_t at = 0;

    while (field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag == FIELD_ALLOWED_IMPORT) {
            return 1;
        }
    }
    return 0;
}

/* ---- scanning ---- */

/* is_program: the tree may be of use when it is evaluated. */
static void scan_one(const struct guest_start *start, const struct guest_module *source,
    uint32_t language, int is_program)
{
    static struct vial_error err; /* its text is in a finding */
    struct scan_tree t = {.tree = NULL};
    struct scanner_source s = {.name = source->name,
        .name_len = source->name_len,
        .may_import = is_restricted(start) ? may_import : NULL};
    size_t before = findings.count;
    uintptr_t user = (uintptr_t)start;
    uint32_t places[PLACES_MAX];
    struct excerpt excerpt;
    int count = scanner_places(
        scanner, source->source, source->source_len, s.may_import != NULL, places, PLACES_MAX);
    int has_excerpt = count > 0 && SCAN.excerpt(source->source, source->source_len, places,
                                       (size_t)count, &excerpt) == 0;

    if (count == 0) {
        return;
    }
    memcpy(&s.user, &user, sizeof(s.user)); /* may_import only reads it */
    if (SCAN.read(source, language, has_excerpt ? &excerpt : NULL, &t, &err) < 0) {
        findings_incomplete(&findings, source->name, source->name_len, err.text);
        return;
    }
    s.text = t.text;
    s.len = t.len;
    s.language = t.language;
    if (has_excerpt && t.text == source->source) {
        s.pieces = excerpt.ranges;
        s.pieces_count = excerpt.count;
    }
    scanner_scan(scanner, ts_tree_root_node(t.tree), &s, &findings);
    for (size_t i = before; SCAN.map_back != NULL && i < findings.count; i++) {
        SCAN.map_back(&findings.items[i].line, &findings.items[i].column);
    }
    if (is_program && SCAN.keep != NULL && !t.is_excerpt) {
        SCAN.keep(&t);
    } else {
        ts_tree_delete(t.tree);
    }
}

static int put(struct buf *b, uint8_t tag, const char *bytes, size_t len)
{
    return field_add(b, tag, bytes, len, NULL);
}

static void send_findings(const struct guest_start *start)
{
    struct buf b;
    int r = 0;

    findings_sort(&findings);
    buf_init(&b, FRAME_FINDINGS_BYTES_MAX);
    for (size_t i = 0; i < findings.count; i++) {
        const struct finding *f = &findings.items[i];
        const char *file = f->source_name == start->name ? "" : f->source_name;
        size_t file_len = file[0] == '\0' ? 0 : f->source_name_len;

        r |= put(&b, FIELD_FINDING_ID, f->id, strlen(f->id));
        r |= field_add_u32(&b, FIELD_FINDING_SEVERITY, f->severity, NULL);
        r |= field_add_u32(&b, FIELD_FINDING_LINE, f->line, NULL);
        r |= field_add_u32(&b, FIELD_FINDING_COLUMN, f->column, NULL);
        r |= put(&b, FIELD_FINDING_FILE, file, file_len < NAME_BYTES_MAX ? file_len : 0);
        r |= put(&b, FIELD_FINDING_TEXT, f->text, strlen(f->text));
        r |= put(&b, FIELD_FINDING_MESSAGE, f->message, strlen(f->message));
        r |= put(&b, FIELD_FINDING_ADVICE, f->advice, strlen(f->advice));
    }
    r |= findings.more_count > 0 ? field_add_u32(&b, FIELD_FINDINGS_MORE, findings.more_count, NULL)
                                 : 0;
    if (r < 0) {
        _exit(1);
    }
    calls_send(FRAME_FINDINGS, b.data, b.len);
    buf_release(&b);
}

static int is_refused(void)
{
    for (size_t i = 0; i < findings.count; i++) {
        if (findings.items[i].severity == SEVERITY_BLOCK) {
            return 1;
        }
    }
    return 0;
}

/* Rules that cannot be used: nothing is scanned, and nothing runs. */
static int refuse_rules(const struct vial_error *err, struct buf *result)
{
    static const char name[] = SCAN_RULES_ERROR;

    if (field_add_u32(result, FIELD_OUTCOME, OUTCOME_EXCEPTION, NULL) < 0 ||
        put(result, FIELD_ERROR_NAME, name, sizeof(name) - 1) < 0 ||
        put(result, FIELD_ERROR_MESSAGE, err->text, strlen(err->text)) < 0) {
        _exit(1);
    }
    return 1;
}

int scan_program(const struct guest_start *start, struct buf *result)
{
    const struct guest_module main = {.name = start->name,
        .name_len = start->name_len,
        .source = start->source,
        .source_len = start->source_len};
    struct vial_error err = {0};
    int refused;

    if (start->scan == SCAN_OFF) {
        return 0;
    }
    if (prepare(&err) < 0 || add_rules(start, &err) < 0) {
        return refuse_rules(&err, result);
    }
    if (start->scan == SCAN_PREPARE) {
        return 0;
    }
    findings.count = findings.more_count = 0;
    findings.incomplete_why = NULL;
    for (size_t i = 0; i < start->module_count; i++) {
        scan_one(start, &start->modules[i], VIAL_LANGUAGE_AUTO, 0);
    }
    scan_one(start, &main, start->language, start->scan != SCAN_ONLY);
    if (findings.count > 0) {
        send_findings(start);
    }
    refused = start->scan == SCAN_BLOCK && is_refused();
    if (!refused && start->scan != SCAN_ONLY) {
        return 0;
    }
    scan_done();
    if (field_add_u32(result, FIELD_OUTCOME, refused ? OUTCOME_REFUSED : OUTCOME_OK, NULL) < 0) {
        _exit(1);
    }
    return 1;
}

void scan_touch(void)
{
    static const struct guest_module source = {.name = "main",
        .name_len = 4,
        .source = SCAN_REHEARSAL,
        .source_len = sizeof(SCAN_REHEARSAL) - 1};
    static const struct guest_start start = {.fields = "", .fields_len = 0};

    if (scanner == NULL) {
        return;
    }
    scan_one(&start, &source, VIAL_LANGUAGE_AUTO, 0);
    findings.count = 0;
    if (SCAN.touch != NULL) {
        SCAN.touch();
    }
}

void scan_done(void)
{
    if (SCAN.forget != NULL) {
        SCAN.forget();
    }
}
