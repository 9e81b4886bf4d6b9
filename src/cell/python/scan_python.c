/* scan_python.c - Python for the scanner; see cell/scan_program.h. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cell/scan_program.h"
#include "code/syntax.h"

enum {
    PAGE = 4096,
    /* What compiling 2 KB of Python takes, in pieces that malloc has no mappings of their own for;
     * it keeps the first 128 KiB of what is given back. */
    HEAP_BLOCK_BYTES = 64 * 1024,
    HEAP_BLOCKS = 3,
};

const TSLanguage *tree_sitter_python(void); /* the grammar, compiled from C source */

static int python_read(const struct guest_module *source, uint32_t language,
    const struct excerpt *excerpt, struct scan_tree *ret, struct vial_error *err)
{
    (void)language;
    *ret = (struct scan_tree){
        .text = source->source, .len = source->source_len, .language = SCANNER_PYTHON};
    if (excerpt != NULL && syntax_parse_excerpt(tree_sitter_python(), ret->text, ret->len,
                               excerpt->ranges, excerpt->count, &ret->tree)) {
        ret->is_excerpt = 1;
        return VIAL_OK;
    }
    return syntax_parse(tree_sitter_python(), ret->text, ret->len, 0, &ret->tree, err);
}

/* The rules were compiled after it was found out which pages programs write to (cell/slim.h), and
 * lie where programs would have got their memory from. They get it from behind the rules now, where
 * nothing has been written to: these pages are made ready here. */
static void python_touch_heap(void)
{
    void *blocks[HEAP_BLOCKS];

    for (int i = 0; i < HEAP_BLOCKS; i++) {
        uintptr_t start;

        blocks[i] = malloc(HEAP_BLOCK_BYTES);
        start = ((uintptr_t)blocks[i] + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        if (blocks[i] != NULL) {
            (void)madvise((void *)start, HEAP_BLOCK_BYTES - PAGE, MADV_POPULATE_WRITE);
        }
    }
    for (int i = 0; i < HEAP_BLOCKS; i++) {
        free(blocks[i]);
    }
}

const struct scan_ops SCAN = {
    .grammar = tree_sitter_python,
    .languages = SCANNER_PYTHON,
    .excerpt = excerpt_make_python,
    .read = python_read,
    .touch = python_touch_heap,
};
