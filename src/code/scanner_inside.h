/* scanner_inside.h - what the files of the scanner share. */
#ifndef VIAL_CODE_SCANNER_INSIDE_H
#define VIAL_CODE_SCANNER_INSIDE_H

#include <regex.h>

#include "base/buf.h"
#include "code/scanner.h"

enum {
    /* Nodes that conditions about what is inside or around a node may look at, for one source and
     * all rules. A source of a megabyte has half a million nodes. */
    SCANNER_STEPS_MAX = 4 * 1000 * 1000,
    SCANNER_WORDS_MAX = 200,        /* of one condition, such as the names of a list */
    SCANNER_CONDITIONS_MAX = 16,    /* of one pattern */
    SCANNER_NEEDS_BYTES_MAX = 1000, /* of the words that a rule needs */
    SCANNER_ALL_WORDS_MAX = 4096,   /* of all rules; beyond it every source is read */
};

struct rule {
    char id[SCANNER_ID_BYTES_MAX + 1];
    char message[SCANNER_MESSAGE_BYTES_MAX + 1];
    char advice[SCANNER_ADVICE_BYTES_MAX + 1];
    uint32_t severity;
    uint32_t languages;  /* enum scanner_language */
    int is_masked;       /* what was found is a secret, and is not shown */
    uint32_t start, end; /* its piece of the file */
    uint32_t line;       /* of its id in the file */
    uint32_t patterns_count;
    int needs_imports; /* it can find something only where imports are restricted */
    /* Words, one of which is in every source that it finds something in; empty: see
     * scanner_words.c */
    char needs[SCANNER_NEEDS_BYTES_MAX + 1];
    char words[SCANNER_NEEDS_BYTES_MAX + 1]; /* these, as they are in sources */
};

struct word_table;

enum condition_kind {
    CONDITION_EQ,     /* the text is this, or that of another node */
    CONDITION_ANY_OF, /* the text is one of these */
    CONDITION_MATCH,  /* a regular expression finds something in the text */
    CONDITION_HAS, /* there is a node of one of these kinds inside, but not in a function in it */
    CONDITION_INSIDE,     /* it is in a node of one of these kinds, and not in a function in that */
    CONDITION_MIN_LENGTH, /* the text has so many bytes */
    CONDITION_MIN_ENTROPY, /* each byte of the text says so many tenths of a bit */
    CONDITION_MAY_IMPORT,  /* programs may import the module that is named */
};

struct condition {
    int kind;   /* enum condition_kind */
    int wanted; /* 1, or 0 when it must not be so */
    uint32_t capture;
    int64_t other_capture; /* of EQ, or -1 */
    uint32_t number;       /* of MIN_ */
    uint32_t words_count;
    const char **words; /* in the query; of EQ and ANY_OF */
    uint32_t *lengths;
    TSSymbol *symbols; /* of HAS and INSIDE */
    regex_t regex;
    int has_regex;
};

struct pattern {
    uint32_t rule; /* index */
    uint32_t conditions_count;
    struct condition *conditions;
};

/* A file of rules. */
struct rule_file {
    char name[SCANNER_ID_BYTES_MAX + 1];
    TSQuery *query; /* NULL: no rule in it is for these languages */
    struct rule *rules;
    size_t rules_count;
    struct pattern *patterns; /* as many as the query has */
    uint32_t patterns_count;
    uint32_t finding_capture;
};

struct scanner {
    const TSLanguage *language;
    uint32_t languages;
    struct rule_file *files[SCANNER_FILES_MAX];
    size_t files_count;
    size_t rules_count;
    uint8_t *is_function; /* by symbol: has its own return */
    uint32_t symbols_count;
    struct word_table *words; /* of all files */
};

/* What a condition is held against. */
struct looking {
    const struct scanner *scanner;
    const struct scanner_source *source;
    TSNode root;
    uint64_t steps; /* left; the scan is incomplete when there are none */
};

/* scanner_rules.c: reads the headers of a file; query gets its text with all blank that is not for
 * these languages. 0, or VIAL_E_INVALID or NOMEM. */
VIAL_NODISCARD int rules_read(struct rule_file *file, const char *text, size_t len,
    uint32_t languages, struct buf *query, struct vial_error *err);

/* Is there a node in front of every condition of a query? Tree-sitter 0.25 reads beyond its memory
 * where there is none. VIAL_E_INVALID says in which line. */
VIAL_NODISCARD int rules_check_conditions(
    const struct rule_file *file, const char *text, size_t len, struct vial_error *err);

/* The rule whose piece of the file has this byte, or NULL. */
struct rule *rules_at(const struct rule_file *file, uint32_t byte);

/* The line of a byte, counted from 1. */
uint32_t rules_line(const char *text, size_t len, size_t at);

/* scanner_condition.c: the conditions of a pattern, out of the steps of its predicates. */
VIAL_NODISCARD int conditions_read(const struct scanner *s, const TSQuery *query, uint32_t index,
    struct pattern *ret, struct vial_error *err);
void conditions_release(struct pattern *pattern);

/* scanner_words.c: gathers the words of all rules. */
VIAL_NODISCARD int words_make(struct scanner *s, struct vial_error *err);
void words_free(struct word_table *words);

/* As scanner_places. */
int words_places(const struct word_table *words, const char *text, size_t len, int has_imports,
    uint32_t *places, int max);

/* Do all of them hold for the nodes of a match? */
int conditions_hold(const struct pattern *pattern, const TSQueryMatch *match, struct looking *l);

#endif
