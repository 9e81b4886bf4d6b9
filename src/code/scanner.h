/* scanner.h - looks for patterns in guest source that somebody has a rule about.
 *
 * Rules are tree-sitter queries in text files, ours and the operator's; docs/scanner.md has their
 * form. They are compiled once and then held against as many sources as there are:
 *
 *     scanner_new -> scanner_add (for each file) -> scanner_scan (for each source) -> scanner_free
 *
 * The scanner advises, it protects nothing: what it does not see still meets the wall. Sources are
 * hostile, and rules may be badly written, so everything that takes time has a number of steps; a
 * source that needs more is reported as one that could not be scanned. */
#ifndef VIAL_CODE_SCANNER_H
#define VIAL_CODE_SCANNER_H

#include <stddef.h>
#include <stdint.h>

#include "code/syntax.h"

enum {
    SCANNER_RULES_BYTES_MAX = 256 * 1024, /* of one file; ours have a tenth of that */
    SCANNER_FILES_MAX = 64,               /* each is a walk over the tree of every source */
    SCANNER_RULES_MAX = 500,              /* of all files */
    SCANNER_ID_BYTES_MAX = 64,
    SCANNER_MESSAGE_BYTES_MAX = 300, /* message and advice travel with each finding */
    SCANNER_ADVICE_BYTES_MAX = 400,
    SCANNER_TEXT_BYTES_MAX = 120, /* of the source, shown with a finding: a line of it */
    SCANNER_FINDINGS_MAX = 100,   /* nobody reads more; the gravest ones are kept */
};

enum scanner_severity { SEVERITY_INFO = 0, SEVERITY_WARN = 1, SEVERITY_BLOCK = 2, SEVERITY_OFF };

/* What a rule is for, and what a source is written in. */
enum scanner_language {
    SCANNER_JAVASCRIPT = 1,
    SCANNER_TYPESCRIPT = 2, /* as JavaScript, without its types */
    SCANNER_PYTHON = 4,
};

struct finding {
    /* Of the rule, or of ours; they live as long as the scanner. */
    const char *id, *message, *advice;
    uint32_t severity;       /* enum scanner_severity, never OFF */
    uint32_t line, column;   /* counted from 1; columns in UTF-16 units, like those of errors */
    uint32_t at;             /* the byte it begins at */
    const char *source_name; /* as in struct scanner_source */
    size_t source_name_len;
    char text[SCANNER_TEXT_BYTES_MAX + 1]; /* of the source, its first line, UTF-8 */
};

struct findings {
    struct finding items[SCANNER_FINDINGS_MAX];
    size_t count;
    uint32_t more_count;        /* that were found and are not among them */
    const char *incomplete_why; /* a source could not be scanned, or not all of it; or NULL */
};

/* Whose tree is scanned. */
struct scanner_source {
    const char *name; /* for findings; need not end in NUL */
    size_t name_len;
    const char *text; /* what the tree is a tree of */
    size_t len;
    uint32_t language; /* enum scanner_language */
    /* May a program import the module of this name? NULL: any. */
    int (*may_import)(const char *name, size_t len, void *user);
    void *user;
    /* Pieces of the text that have all its places in them; with none all of it is looked at. */
    const TSRange *pieces;
    uint32_t pieces_count;
};

struct scanner;

/* A scanner without rules for a grammar and the languages that are read with it; NULL without
 * memory. */
struct scanner *scanner_new(const TSLanguage *language, uint32_t languages);
void scanner_free(struct scanner *s);

/* Adds the rules of a file; text need not end in NUL. A rule that has the id of one of an earlier
 * file takes its place. VIAL_E_INVALID: "name, line 3: ..." is what is wrong with it, and nothing
 * was added. */
VIAL_NODISCARD int scanner_add(
    struct scanner *s, const char *name, const char *text, size_t len, struct vial_error *err);

/* Where the words are that rules are about: what a rule finds in this text is around one of these
 * places. Their number, at most max; 0: no rule can find anything, so there is no need to read it;
 * -1: there are more, or a rule has no words and could find something anywhere. has_imports: what
 * programs may import is restricted. At least one file has been added. */
int scanner_places(const struct scanner *s, const char *text, size_t len, int has_imports,
    uint32_t *places, int max);

/* Adds what there is to findings. A source that is too much is noted there. */
void scanner_scan(
    struct scanner *s, TSNode root, const struct scanner_source *source, struct findings *findings);

/* Notes that a source could not be scanned; why is the rest of a sentence and must stay there. */
void findings_incomplete(struct findings *f, const char *name, size_t name_len, const char *why);

/* Puts them in order: by source, then by position. */
void findings_sort(struct findings *f);

/* "info", "warn" or "block". */
const char *scanner_severity_name(uint32_t severity);

#endif
