/* document_python.c - what only environments for Python have: packages that are there at once, and
 * the modules that programs may import. */
#include <stdlib.h>
#include <string.h>

#include "policy/document_check.h"

enum {
    IMPORTS_MAX = 500, /* the standard library has 300 modules */
    IMPORT_BYTES_MAX = 256,
    PACKAGES_MAX = 16,
};

/* Those that a template can have. */
static const char *const PACKAGES[] = {"numpy", "pandas", "matplotlib", NULL};

static int is_name_part(const char *part, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (!((part[i] >= 'a' && part[i] <= 'z') || (part[i] >= 'A' && part[i] <= 'Z') ||
                part[i] == '_' || (i > 0 && part[i] >= '0' && part[i] <= '9'))) {
            return 0;
        }
    }
    return len > 0;
}

/* Is it the name of a module: identifiers with dots between them? */
static int is_module_name(const char *name)
{
    const char *dot;

    while ((dot = strchr(name, '.')) != NULL) {
        if (!is_name_part(name, (size_t)(dot - name))) {
            return 0;
        }
        name = dot + 1;
    }
    return is_name_part(name, strlen(name));
}

static const char *import_fault(const char *name)
{
    return is_module_name(name) ? NULL : "is no name of a module, such as json or os.path";
}

static const char *package_fault(const char *name)
{
    size_t i;

    for (i = 0; PACKAGES[i] != NULL; i++) {
        if (strcmp(PACKAGES[i], name) == 0) {
            return NULL;
        }
    }
    return "is not among the packages that there are: numpy, pandas, matplotlib";
}

/* An array of names, each of which fault judges. */
static void check_names(struct document_check *c, const json_t *value, size_t max,
    const char *(*fault)(const char *name), struct document_strings *ret)
{
    const char *why;
    size_t i, before;
    char *name;

    if (!must_be_array(c, value, max, "names")) {
        return;
    }
    ret->items = check_array_new(c, json_array_size(value), sizeof(*ret->items));
    for (i = 0; i < json_array_size(value) && ret->items != NULL; i++) {
        before = check_enter_index(c, i);
        name = must_be_string(c, json_array_get(value, i), IMPORT_BYTES_MAX);
        why = name != NULL ? fault(name) : NULL;
        if (why != NULL) {
            check_say(c, "\"%.64s\" %s", name, why);
        }
        if (name != NULL) {
            ret->items[ret->count++] = name;
        }
        check_leave(c, before);
    }
}

static int must_be_python(struct document_check *c)
{
    if (c->doc->language == VIAL_LANGUAGE_PYTHON) {
        return 1;
    }
    check_say(c, "only environments whose language is python have this");
    return 0;
}

void document_check_imports(struct document_check *c, json_t *value)
{
    if (value != NULL && must_be_python(c)) {
        c->doc->imports_restricted = 1;
        check_names(c, value, IMPORTS_MAX, import_fault, &c->doc->allowed_imports);
    }
}

void document_check_packages(struct document_check *c, json_t *value)
{
    if (value != NULL && must_be_python(c)) {
        check_names(c, value, PACKAGES_MAX, package_fault, &c->doc->packages);
    }
}
