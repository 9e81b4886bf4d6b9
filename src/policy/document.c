/* document.c - see document.h; this is the document as a whole and its plain members.
 *
 * A document is read in three steps: is it JSON at all (our own scanner, which says where it is not
 * and allocates nothing), is it small enough to be built as a tree, and what does each member say.
 */
#include "policy/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/document_check.h"
#include "policy/document_name.h"
#include "policy/document_net.h"
#include "policy/document_text.h"

enum {
    PATH_BYTES_MAX = 4096, /* five keys, none of which is shown with more than 128 bytes */
    FULL_NAME_BYTES_MAX = 8192,
    WHY_BYTES_MAX = 256,
};

static const char *const KEYS[] = {"name", "description", "language", "prefix", "modules", "tools",
    "globals", "permissions", "limits", "env", "cwd", "files", "mounts", "entry", "packages",
    "allowed_imports", "scan", "audit", NULL};

void document_free(struct document *doc)
{
    size_t i;

    if (doc == NULL) {
        return;
    }
    free(doc->name);
    free(doc->description);
    free(doc->prefix);
    free(doc->cwd);
    for (i = 0; i < doc->modules_count; i++) {
        free(doc->modules[i].name);
        free(doc->modules[i].source);
    }
    free(doc->modules);
    for (i = 0; i < doc->globals_count; i++) {
        free(doc->globals[i].name);
        free(doc->globals[i].json);
    }
    free(doc->globals);
    for (i = 0; i < doc->files_count; i++) {
        free(doc->files[i].name);
        free(doc->files[i].bytes);
    }
    free(doc->files);
    for (i = 0; i < doc->mounts_count; i++) {
        free(doc->mounts[i].name);
        free(doc->mounts[i].from);
    }
    free(doc->mounts);
    document_tools_release(doc);
    permission_free(doc->permissions);
    document_scan_release(doc);
    audit_rules_release(&doc->audit);
    document_strings_release(&doc->packages);
    document_strings_release(&doc->allowed_imports);
    document_strings_release(&doc->env);
    free(doc);
}

static void check_name(struct document_check *c, const json_t *root)
{
    const char *fault;
    size_t before;

    if (json_object_get(root, "name") == NULL) {
        check_say(c, "the key \"name\" is missing: an environment needs a name");
        return;
    }
    c->doc->name = check_member(c, root, "name", DOCUMENT_BYTES_MAX);
    if (c->doc->name == NULL) {
        return;
    }
    fault = environment_name_fault(c->doc->name, strlen(c->doc->name));
    if (fault != NULL) {
        before = check_enter(c, "name");
        check_say(c, "the name %s", fault);
        check_leave(c, before);
    }
}

static void check_prefix(struct document_check *c, const json_t *root)
{
    c->doc->prefix = check_member(c, root, "prefix", DOCUMENT_BYTES_MAX);
    if (c->doc->prefix == NULL) {
        c->doc->prefix = strdup("");
    }
    if (c->doc->prefix == NULL) {
        check_no_memory(c);
        return;
    }
    c->doc->prefix_len = strlen(c->doc->prefix);
}

/* ---- modules ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names has the full names of all modules, each with its NUL. */
static void check_different(struct document_check *c, const struct buf *names, size_t count)
{
    const char **sorted = check_array_new(c, count, sizeof(*sorted));
    const char *at = names->data;
    size_t i;

    for (i = 0; i < count && sorted != NULL; i++) {
        sorted[i] = at;
        at += strlen(at) + 1;
    }
    if (sorted != NULL) {
        qsort(sorted, count, sizeof(*sorted), compare_texts);
    }
    for (i = 1; i < count && sorted != NULL; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            check_say(c, "two modules have the name %.80s", sorted[i]);
        }
    }
    free(sorted);
}

/* Judges one name and adds the full one to names; 1 when it did. */
static int check_module_name(struct document_check *c, const char *name, struct buf *names)
{
    char why[WHY_BYTES_MAX] = "";
    struct buf full;
    int added = 0;

    if (c->checks == NULL || c->checks->module_name == NULL) {
        return 0;
    }
    buf_init(&full, FULL_NAME_BYTES_MAX);
    if (c->checks->module_name(name, strlen(name), &full, why, sizeof(why)) < 0) {
        check_say(c, "the name of the module %s", why);
    } else if (full.data == NULL || buf_add(names, full.data, full.len + 1, NULL) < 0) {
        check_no_memory(c);
    } else {
        added = 1;
    }
    buf_release(&full);
    return added;
}

static void check_modules(struct document_check *c, json_t *value)
{
    struct document *doc = c->doc;
    size_t names_count = 0, before;
    struct buf names;
    const char *name;
    json_t *source;

    if (value == NULL || !must_be_object(c, value, VIAL_MODULES_MAX, "modules")) {
        return;
    }
    buf_init(&names, (size_t)VIAL_MODULES_MAX * FULL_NAME_BYTES_MAX);
    doc->modules = check_array_new(c, json_object_size(value), sizeof(*doc->modules));
    json_object_foreach(value, name, source)
    {
        before = check_enter(c, name);
        names_count += (size_t)check_module_name(c, name, &names);
        if (doc->modules != NULL) {
            struct document_module *module = &doc->modules[doc->modules_count++];

            module->name = strdup(name);
            module->source = must_be_string(c, source, DOCUMENT_BYTES_MAX);
            module->source_len = module->source != NULL ? strlen(module->source) : 0;
            if (module->name == NULL) {
                check_no_memory(c);
            }
        }
        check_leave(c, before);
    }
    if (names_count > 0) {
        check_different(c, &names, names_count);
    }
    buf_release(&names);
}

/* ---- globals ---- */

/* A global and a tool of one name: "crm" and "crm.find". */
static int hides_tool(const struct document *doc, const char *name)
{
    size_t i;

    for (i = 0; i < doc->tools_count; i++) {
        if (doc->tools[i].name != NULL && (strcmp(name, doc->tools[i].name) == 0 ||
                                              tool_name_is_above(name, doc->tools[i].name))) {
            return 1;
        }
    }
    return 0;
}

static void check_globals(struct document_check *c, json_t *value)
{
    struct document *doc = c->doc;
    const char *name, *fault;
    json_t *json;
    size_t before;

    if (value == NULL || !must_be_object(c, value, DOCUMENT_GLOBALS_MAX, "globals")) {
        return;
    }
    doc->globals = check_array_new(c, json_object_size(value), sizeof(*doc->globals));
    json_object_foreach(value, name, json)
    {
        before = check_enter(c, name);
        fault = global_name_fault(name, strlen(name));
        if (fault == NULL && hides_tool(doc, name)) {
            fault = "is the name of a tool too";
        }
        if (fault != NULL) {
            check_say(c, "the name %s", fault);
        } else if (doc->globals != NULL) {
            struct document_global *global = &doc->globals[doc->globals_count++];

            global->name = strdup(name);
            global->json = check_dump(c, json);
            if (global->name == NULL) {
                check_no_memory(c);
            }
        }
        check_leave(c, before);
    }
}

/* ---- permissions ---- */

void document_check_permissions(struct document_check *c, json_t *value)
{
    c->doc->permissions = permission_check(c, value);
    c->doc->files_allowed =
        c->doc->permissions != NULL && c->doc->permissions->scopes[SCOPE_FS].word != RULES_DENY;
}

int document_allows_tool(const struct document *doc, const char *tool)
{
    const struct permission_chain chain = {.levels = {[PERMISSION_ENVIRONMENT] = doc->permissions}};

    return permission_decide(&chain, SCOPE_TOOLS, 1, tool, NULL);
}

/* ---- the whole ---- */

static void check_part(struct document_check *c, json_t *root, const char *key,
    void (*check)(struct document_check *c, json_t *value))
{
    size_t before = check_enter(c, key);

    check(c, json_object_get(root, key));
    check_leave(c, before);
}

static void check_tools(struct document_check *c, json_t *value)
{
    document_check_tools(c, value);
}

/* The order matters where one part is judged by another: globals by tools, files by limits. */
static void check_root(struct document_check *c, json_t *root)
{
    static const char *const languages[] = {"javascript", "typescript", "python", NULL};
    static const uint32_t numbers[] = {
        VIAL_LANGUAGE_JAVASCRIPT, VIAL_LANGUAGE_TYPESCRIPT, VIAL_LANGUAGE_PYTHON};
    static const char *const entries[] = {"script", "main", NULL};

    if (!must_be_object(c, root, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, root, KEYS);
    check_name(c, root);
    c->doc->description = check_member(c, root, "description", DOCUMENT_DESCRIPTION_BYTES_MAX);
    c->doc->language = numbers[check_choice(c, root, "language", languages)];
    c->doc->entry_is_main = check_choice(c, root, "entry", entries) == 1;
    check_prefix(c, root);
    check_part(c, root, "modules", check_modules);
    check_part(c, root, "packages", document_check_packages);
    check_part(c, root, "allowed_imports", document_check_imports);
    check_part(c, root, "tools", check_tools);
    check_part(c, root, "globals", check_globals);
    check_part(c, root, "permissions", document_check_permissions);
    check_part(c, root, "limits", document_check_limits);
    check_part(c, root, "scan", document_check_scan);
    check_part(c, root, "audit", document_check_audit);
    check_part(c, root, "env", document_check_env);
    document_check_cwd(c, root);
    check_part(c, root, "files", document_check_files);
    check_part(c, root, "mounts", document_check_mounts);
    if (c->faults == 0) {
        document_check_room(c);
    }
}

static json_t *read_tree(struct document_check *c, const char *json, size_t len)
{
    char why[WHY_BYTES_MAX];
    json_error_t error;
    json_t *root;

    if (document_text_check(json, len, why, sizeof(why)) < 0) {
        check_say(c, "%s", why);
        return NULL;
    }
    root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (root == NULL && json_error_code(&error) == json_error_out_of_memory) {
        check_no_memory(c);
    } else if (root == NULL) {
        check_say(c, "the document cannot be read: line %d, column %d: %s", error.line,
            error.column, error.text);
    }
    return root;
}

static int parse(struct document_check *c, const char *json, size_t len, struct document **ret)
{
    json_t *root;

    c->doc = calloc(1, sizeof(*c->doc));
    if (c->doc == NULL) {
        check_no_memory(c);
        return c->r;
    }
    root = read_tree(c, json, len);
    if (root != NULL) {
        check_root(c, root);
    }
    json_decref(root);
    if (c->r < 0 || c->faults > 0) {
        document_free(c->doc);
        return c->r < 0 ? c->r : VIAL_E_INVALID;
    }
    *ret = c->doc;
    return VIAL_OK;
}

int document_parse(const char *json, size_t len, const struct document_checks *checks,
    struct document **ret, struct buf *report, struct vial_error *err)
{
    struct vial_error own;
    struct document_check c = {.checks = checks, .report = report, .err = err != NULL ? err : &own};
    struct document *doc = NULL;
    int r;

    buf_init(&c.path, PATH_BYTES_MAX);
    r = report_begin(report);
    r = r < 0 ? r : parse(&c, json, len, &doc);
    buf_release(&c.path);
    if (r == VIAL_E_NOMEM || report_end(report) < 0) {
        document_free(doc);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the document of an environment");
    }
    if (r == VIAL_OK) {
        *ret = doc;
    }
    return r;
}
