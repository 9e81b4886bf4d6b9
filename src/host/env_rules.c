/* env_rules.c - what an environment says about the runs in it, and what they may not say; see
 * env.h. */
#include <jansson.h>
#include <string.h>

#include "base/error.h"
#include "host/env.h"
#include "policy/limits.h"
#include "wire/field.h"

int env_limits(struct vial_env *env, const struct vial_limits *asked, struct vial_limits *ret,
    struct vial_error *err)
{
    const struct document *d = env->document;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    const struct limit_row *rows;
    size_t count, i;

    if (asked != NULL) {
        if (asked->size > sizeof(limits)) {
            return vial__fail(err, VIAL_E_INVALID, "the limits are newer than this library");
        }
        memcpy(&limits, asked, asked->size);
        limits.size = sizeof(limits);
    }
    rows = limits_table(&count);
    for (i = 0; i < count; i++) {
        uint64_t value = limits_get(&limits, &rows[i]);
        uint64_t max = limits_get(&d->limits_max, &rows[i]);

        if (value == 0) {
            limits_put(&limits, &rows[i], limits_get(&d->limits, &rows[i]));
        } else if (value > max) {
            return vial__fail(err, VIAL_E_INVALID,
                "%s is %llu; the environment %s allows up to %llu", rows[i].field,
                (unsigned long long)value, d->name, (unsigned long long)max);
        }
    }
    return limits_resolve(&limits, ret, err);
}

int env_check_globals(struct vial_env *env, const char *globals, size_t len, struct vial_error *err)
{
    const struct document *d = env->document;
    json_error_t fault;
    const char *key;
    json_t *object, *value;
    int r = VIAL_OK;
    size_t i;

    if (globals == NULL) {
        return VIAL_OK;
    }
    object = json_loadb(globals, len, JSON_REJECT_DUPLICATES, &fault);
    if (object == NULL || !json_is_object(object)) {
        json_decref(object);
        return vial__fail(err, VIAL_E_INVALID, "the globals must be a JSON object");
    }
    json_object_foreach(object, key, value)
    {
        for (i = 0; i < d->globals_count && strcmp(d->globals[i].name, key) != 0; i++) {
        }
        if (i == d->globals_count) {
            r = vial__fail(err, VIAL_E_INVALID,
                "the environment %s declares no global %s, so a run cannot set it", d->name, key);
            break;
        }
    }
    json_decref(object);
    return r;
}

int env_tools(struct vial_env *env, const struct vial_tool *tools, size_t count,
    struct tool_set **ret, struct vial_error *err)
{
    if (env->tools == NULL && count > 0) {
        return vial__fail(
            err, VIAL_E_INVALID, "the environment %s declares no tools", env->document->name);
    }
    if (count == 0) {
        *ret = env->tools != NULL ? tool_set_ref(env->tools) : NULL;
        return VIAL_OK;
    }
    return tool_set_rebind(env->tools, tools, count, ret, err);
}

int env_apply(struct vial_env *env, struct vial_run *run, struct vial_error *err)
{
    struct vial_request *q = &run->request;
    const struct document *d = env->document;
    int r;

    if (q->env_count > 0 || q->cwd != NULL) {
        return vial__fail(err, VIAL_E_INVALID,
            "the variables and the directory of a run in the environment %s are the environment's",
            d->name);
    }
    if (q->scan_rules_count > 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "the rules that programs in the environment %s are scanned by are the environment's",
            d->name);
    }
    if ((d->language == VIAL_LANGUAGE_PYTHON) != (q->language == VIAL_LANGUAGE_PYTHON) &&
        q->language != VIAL_LANGUAGE_AUTO) {
        return vial__fail(err, VIAL_E_INVALID, "programs in the environment %s are written in %s",
            d->name, d->language == VIAL_LANGUAGE_PYTHON ? "Python" : "JavaScript or TypeScript");
    }
    if (q->language == VIAL_LANGUAGE_AUTO && d->language != VIAL_LANGUAGE_JAVASCRIPT) {
        q->language = d->language;
    }
    q->env = d->env.items;
    q->env_count = d->env.count;
    q->entry_is_main = q->entry_is_main != 0 || d->entry_is_main;
    run->session_kind = SESSION_ENV;
    run->scan = d->scan_mode;
    r = env_limits(env, q->limits, &run->limits, err);
    r = r < 0 ? r : env_check_globals(env, q->globals, q->globals_len, err);
    return r < 0 ? r : VIAL_OK;
}
