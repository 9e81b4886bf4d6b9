/* modules.c - see modules.h. */
#include "host/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "code/specifier.h"
#include "wire/field.h"

enum {
    NAME_SHOWN_BYTES = 80, /* of a bad name, in a message */
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
};

/* The full name of a module into name, which is cleared before; NULL, or why it has none. */
static const char *full_name(const struct vial_module *module, struct buf *name)
{
    buf_clear(name);
    return specifier_resolve_own(module->name, strlen(module->name), name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* names are count strings, one behind the other. */
static int check_different(char *names, size_t count, struct vial_error *err)
{
    const char **sorted = calloc(count, sizeof(*sorted));
    int r = VIAL_OK;

    if (sorted == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the names of modules");
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = names;
        names += strlen(names) + 1;
    }
    qsort(sorted, count, sizeof(*sorted), compare_names);
    for (size_t i = 1; i < count && r == VIAL_OK; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            r = vial__fail(
                err, VIAL_E_INVALID, "two modules have the name %.*s", NAME_SHOWN_BYTES, sorted[i]);
        }
    }
    free(sorted);
    return r;
}

static int check_module(const struct vial_module *module, struct buf *name, struct vial_error *err)
{
    const char *why;
    size_t bad;

    if (module->name == NULL || module->source == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a module needs a name and a source");
    }
    why = full_name(module, name);
    if (why != NULL) {
        int shows = utf8_valid(module->name, strnlen(module->name, NAME_SHOWN_BYTES), NULL);

        return vial__fail(err, VIAL_E_INVALID, "the name of module \"%.*s\" %s",
            shows ? NAME_SHOWN_BYTES : 0, module->name, why);
    }
    if (module->source_len > SOURCE_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "module %.*s is %zu bytes long; it may have up to %d", NAME_SHOWN_BYTES, name->data,
            module->source_len, SOURCE_BYTES_MAX);
    }
    if (!utf8_valid(module->source, module->source_len, &bad)) {
        return vial__fail(err, VIAL_E_INVALID, "module %.*s is not UTF-8 (at byte %zu)",
            NAME_SHOWN_BYTES, name->data, bad);
    }
    return VIAL_OK;
}

int modules_check(const struct vial_request *request, size_t *bytes, struct vial_error *err)
{
    struct buf name, all;
    int r = VIAL_OK;

    if (request->module_count > VIAL_MODULES_MAX ||
        (request->module_count > 0 && request->modules == NULL)) {
        return vial__fail(err, VIAL_E_INVALID, "a run has %zu modules; it may have up to %d",
            request->module_count, VIAL_MODULES_MAX);
    }
    buf_init(&name, (size_t)4 * SPECIFIER_BYTES_MAX);
    buf_init(&all, (size_t)VIAL_MODULES_MAX * 4 * SPECIFIER_BYTES_MAX);
    for (size_t i = 0; i < request->module_count && r == VIAL_OK; i++) {
        r = check_module(&request->modules[i], &name, err);
        r = r < 0 ? r : buf_add(&all, name.data, name.len + 1, err);
        *bytes += request->modules[i].source_len + name.len + (size_t)2 * FIELD_HEAD_BYTES;
    }
    if (r == VIAL_OK && request->module_count > 0) {
        r = check_different(all.data, request->module_count, err);
    }
    buf_release(&name);
    buf_release(&all);
    return r;
}

int modules_add(const struct vial_request *request, struct buf *fields, struct vial_error *err)
{
    struct buf name;
    int r = VIAL_OK;

    buf_init(&name, (size_t)4 * SPECIFIER_BYTES_MAX);
    for (size_t i = 0; i < request->module_count && r == VIAL_OK; i++) {
        const struct vial_module *module = &request->modules[i];

        if (full_name(module, &name) != NULL) {
            r = vial__fail(err, VIAL_E_INVALID, "a module's name changed while it was used");
        }
        r = r < 0 ? r : field_add(fields, FIELD_MODULE_NAME, name.data, name.len, err);
        r = r < 0 ? r
                  : field_add(fields, FIELD_MODULE_SOURCE, module->source, module->source_len, err);
    }
    buf_release(&name);
    return r;
}

const struct vial_module *modules_find(const struct vial_request *request, const char *name)
{
    const struct vial_module *found = NULL;
    struct buf own;

    buf_init(&own, (size_t)4 * SPECIFIER_BYTES_MAX);
    for (size_t i = 0; i < request->module_count && found == NULL; i++) {
        if (full_name(&request->modules[i], &own) == NULL && strcmp(own.data, name) == 0) {
            found = &request->modules[i];
        }
    }
    buf_release(&own);
    return found;
}
