/* parse.c - see parse.h. */
#include "code/parse.h"

#include <assert.h>
#include <string.h>

enum {
    /* The grammar has 263 symbols; the table of kinds has room for newer versions of it. */
    SYMBOLS_MAX = 1024,
    FIELDS_MAX = 256, /* it has 36 of them */
    LEVELS_PER_BYTE = 4,
    LEVELS_MIN = 64,
};

static const struct {
    const char *name;
    enum node_kind kind;
} kind_names[] = {
    {"await", KIND_AWAIT},
    {"return", KIND_RETURN},
    {"yield_expression", KIND_YIELD},
    {"function_expression", KIND_FUNCTION},
    {"generator_function", KIND_FUNCTION},
    {"arrow_function", KIND_FUNCTION},
    {"class_static_block", KIND_FUNCTION},
    {"function_declaration", KIND_HOISTED},
    {"generator_function_declaration", KIND_HOISTED},
    {"class_declaration", KIND_CLASS_DECLARATION},
    {"method_definition", KIND_MEMBER},
    {"field_definition", KIND_MEMBER},
    {"computed_property_name", KIND_MEMBER_KEY},
    {"decorator", KIND_MEMBER_KEY},
    {"comment", KIND_NOTHING},
    {"html_comment", KIND_NOTHING},
    {"empty_statement", KIND_NOTHING},
    {"program", KIND_LIST},
    {"statement_block", KIND_LIST},
    {"else_clause", KIND_LIST},
    {"if_statement", KIND_IF},
    {"try_statement", KIND_TRY},
    {"labeled_statement", KIND_LABELED},
    {"expression_statement", KIND_EXPRESSION},
    {"parenthesized_expression", KIND_PARENTHESES},
    {"import_statement", KIND_IMPORT},
    {"export_statement", KIND_EXPORT},
    {"import", KIND_IMPORT_WORD},
    {"export", KIND_EXPORT_WORD},
    {"meta_property", KIND_META},
    {"call_expression", KIND_CALL},
    {"identifier", KIND_IDENTIFIER},
    {"shorthand_property_identifier", KIND_SHORTHAND},
    {"shorthand_property_identifier_pattern", KIND_SHORTHAND},
    {"assignment_expression", KIND_ASSIGNMENT},
    {"augmented_assignment_expression", KIND_ASSIGNMENT},
    {"update_expression", KIND_UPDATE},
    {"for_in_statement", KIND_FOR_IN},
    {"member_expression", KIND_ACCESS},
    {"subscript_expression", KIND_ACCESS},
    {"variable_declarator", KIND_DECLARATOR},
    {"string", KIND_STRING},
    {"import_clause", KIND_IMPORT_CLAUSE},
    {"named_imports", KIND_IMPORT_LIST},
    {"import_specifier", KIND_IMPORT_SPECIFIER},
    {"namespace_import", KIND_IMPORT_NAMESPACE},
    {"import_attribute", KIND_IMPORT_ATTRIBUTE},
    {"export_clause", KIND_EXPORT_LIST},
    {"export_specifier", KIND_EXPORT_SPECIFIER},
    {"namespace_export", KIND_EXPORT_NAMESPACE},
    {"object", KIND_OBJECT},
    {"pair", KIND_PAIR},
    {"variable_declaration", KIND_VARIABLES},
    {"lexical_declaration", KIND_LEXICAL},
    {"formal_parameters", KIND_PARAMETERS},
    {"catch_clause", KIND_CATCH},
    {"for_statement", KIND_FOR},
    {"switch_case", KIND_CASE},
    {"switch_default", KIND_CASE},
    {"with_statement", KIND_WITH},
};

static const struct {
    const char *name;
    enum node_field field;
} field_names[] = {
    {"name", FIELD_OF_NAME},
    {"left", FIELD_OF_LEFT},
    {"right", FIELD_OF_RIGHT},
    {"argument", FIELD_OF_ARGUMENT},
    {"function", FIELD_OF_FUNCTION},
    {"parameter", FIELD_OF_PARAMETER},
    {"initializer", FIELD_OF_INITIALIZER},
};

/* Made once in a process, before the first walk: comparing names would cost more than a small
 * parse. */
static struct {
    int made;
    uint8_t kinds[SYMBOLS_MAX];
    uint8_t fields[FIELDS_MAX];
} tables;

/* A tree that somebody has made already, for whoever reads the same source next. */
static struct {
    const char *source;
    size_t len;
    TSTree *tree; /* ours, or NULL */
} kept;

static void tables_make(const TSLanguage *language)
{
    uint32_t count = ts_language_symbol_count(language);

    assert(count <= SYMBOLS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)i);

        for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); k++) {
            if (strcmp(name, kind_names[k].name) == 0) {
                tables.kinds[i] = (uint8_t)kind_names[k].kind;
            }
        }
        /* `class` is a keyword and an expression. */
        if (strcmp(name, "class") == 0 &&
            ts_language_symbol_type(language, (TSSymbol)i) == TSSymbolTypeRegular) {
            tables.kinds[i] = KIND_CLASS;
        }
    }
    assert(ts_language_field_count(language) < FIELDS_MAX);
    for (size_t k = 0; k < sizeof(field_names) / sizeof(field_names[0]); k++) {
        TSFieldId id = ts_language_field_id_for_name(
            language, field_names[k].name, (uint32_t)strlen(field_names[k].name));

        tables.fields[id] = (uint8_t)field_names[k].field;
    }
    tables.fields[0] = FIELD_OF_NONE;
    tables.made = 1;
}

enum node_kind node_kind(TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);

    /* Nodes for syntax errors have the largest symbol there is. */
    return symbol < SYMBOLS_MAX ? (enum node_kind)tables.kinds[symbol] : KIND_ERROR;
}

enum node_field node_field(const TSTreeCursor *cursor)
{
    TSFieldId id = ts_tree_cursor_current_field_id(cursor);

    return id < FIELDS_MAX ? (enum node_field)tables.fields[id] : FIELD_OF_NONE;
}

TSNode node_child(TSNode node, const char *field)
{
    return ts_node_child_by_field_name(node, field, (uint32_t)strlen(field));
}

size_t code_hashbang_len(const char *source, size_t len)
{
    size_t i = 0;

    if (len < 2 || memcmp(source, "#!", 2) != 0) {
        return 0;
    }
    /* It ends where every line ends, also at U+2028 and U+2029. */
    while (i < len && source[i] != '\n' && source[i] != '\r' &&
           !(len - i > 2 && memcmp(source + i, "\xe2\x80", 2) == 0 &&
               ((unsigned char)source[i + 2] & 0xfe) == 0xa8)) {
        i++;
    }
    return i;
}

size_t code_levels_max(size_t len)
{
    return len * LEVELS_PER_BYTE + LEVELS_MIN;
}

int code_parse(const TSLanguage *language, const char *source, size_t len, TSTree **ret,
    struct vial_error *err)
{
    if (!tables.made) {
        tables_make(tree_sitter_javascript());
    }
    if (kept.tree != NULL && kept.len == len && memcmp(kept.source, source, len) == 0) {
        *ret = kept.tree;
        kept.tree = NULL;
        return VIAL_OK;
    }
    return syntax_parse(language, source, len, code_hashbang_len(source, len), ret, err);
}

void code_parse_keep(const char *source, size_t len, TSTree *tree)
{
    code_parse_forget();
    kept.source = source;
    kept.len = len;
    kept.tree = tree;
}

void code_parse_forget(void)
{
    if (kept.tree != NULL) {
        ts_tree_delete(kept.tree);
        kept.tree = NULL;
    }
}
