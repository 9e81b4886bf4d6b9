/* scan_python.c - Python for the scanner; see cell/scan_program.h. */
#include "cell/scan_program.h"
#include "code/syntax.h"

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

const struct scan_ops SCAN = {
    .grammar = tree_sitter_python,
    .languages = SCANNER_PYTHON,
    .excerpt = excerpt_make_python,
    .read = python_read,
};
