/* syntax.h - guest source of any language as a syntax tree, within limits. */
#ifndef VIAL_CODE_SYNTAX_H
#define VIAL_CODE_SYNTAX_H

#include <stddef.h>
#include <stdint.h>
#include <tree_sitter/api.h>

#include "vial.h"

enum {
    /* Words, numbers and signs of a source: some 4 MB of code, of which the tree takes 100 MB, most
     * of what a run may have by default. */
    CODE_TOKENS_MAX = 1000000,
    /* Brackets that are open at once. Tree-sitter recurses when it joins two readings of nested
     * braces, `{a:{a:`, and takes 94 bytes of stack for each: 2 MB of the 3 MB that the engine
     * leaves to us below its own limit. */
    CODE_NESTING_MAX = 20000,
    /* That many tokens are read in about a second; a row of quotes is quadratic. What is worse than
     * it should be stops here, and not at the end of the run's processor time. */
    CODE_PARSE_MS_MAX = 3000,
};

/* Tree-sitter counts bytes in 32 bits; half of that leaves room for what is inserted. */
#define CODE_BYTES_MAX ((size_t)INT32_MAX)

/* Reads these pieces of a source and nothing of the rest. 1 when there is a tree of them, which has
 * no errors; 0 when the whole has to be read. */
int syntax_parse_excerpt(const TSLanguage *language, const char *source, size_t len,
    const TSRange *ranges, uint32_t count, TSTree **ret);

/* Reads source, UTF-8, but for the first hidden bytes, which are taken for spaces. VIAL_E_INVALID:
 * it is over a maximum above. The caller deletes the tree. */
VIAL_NODISCARD int syntax_parse(const TSLanguage *language, const char *source, size_t len,
    size_t hidden, TSTree **ret, struct vial_error *err);

#endif
