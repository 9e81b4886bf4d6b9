/* envs.c - see envs.h. */
#include "http/envs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/catalog.h"
#include "http/server.h"
#include "policy/document_name.h"

enum {
    ENTRIES_MAX = 64,          /* kept when nobody uses them; a template each, at worst */
    USE_US = 30 * 1000 * 1000, /* so long after its last run a version still counts as in use */
};

struct envs {
    pthread_mutex_t lock;
    struct env_entry *entries;
    size_t count;
};

int envs_new(struct server *server, struct envs **ret, struct vial_error *err)
{
    struct envs *envs = calloc(1, sizeof(*envs));

    (void)server;
    if (envs == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for environments");
    }
    (void)pthread_mutex_init(&envs->lock, NULL);
    *ret = envs;
    return VIAL_OK;
}

static void entry_free(struct env_entry *entry)
{
    if (entry != NULL) {
        vial_env_free(entry->env);
        document_free(entry->document);
        store_use_free(entry->use);
        free(entry);
    }
}

void envs_free(struct envs *envs)
{
    if (envs == NULL) {
        return;
    }
    while (envs->entries != NULL) {
        struct env_entry *next = envs->entries->next;

        entry_free(envs->entries);
        envs->entries = next;
    }
    (void)pthread_mutex_destroy(&envs->lock);
    free(envs);
}

/* What a tool that its client does not answer says. */
static void nobody_answers(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_fail(engine, call->id, "ToolError",
        "nobody answers this tool: the client has to stream the run, or to detach it", NULL, NULL);
}

/* The tools of the document that a client answers need a function until a run gives another. */
static int make_env(struct vial_engine *engine, const char *json, size_t len,
    struct env_entry *entry, struct vial_error *err)
{
    const struct document *doc = entry->document;
    struct vial_tool *tools = calloc(doc->tools_count + 1, sizeof(*tools));
    size_t i, count = 0;
    int r;

    if (tools == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for %zu tools", doc->tools_count);
    }
    for (i = 0; i < doc->tools_count; i++) {
        if (doc->tools[i].executor == DOCUMENT_BY_HOST) {
            tools[count] = (struct vial_tool)VIAL_TOOL_INIT;
            tools[count].name = doc->tools[i].name;
            tools[count].flags = VIAL_TOOL_INLINE;
            tools[count++].call = nobody_answers;
        }
    }
    r = vial_env_new(engine, json, len, tools, count, &entry->env, err);
    free(tools);
    return r;
}

static struct env_entry *find(struct envs *envs, const char *name, uint32_t version)
{
    struct env_entry *e;

    for (e = envs->entries; e != NULL; e = e->next) {
        if (e->version == version && !e->is_dropped && strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Takes the entry that was unused for the longest time out, or NULL. */
static struct env_entry *take_oldest(struct envs *envs)
{
    struct env_entry **at, **oldest = NULL, *e;

    for (at = &envs->entries; *at != NULL; at = &(*at)->next) {
        if ((*at)->refs == 0 && (oldest == NULL || (*at)->used_us < (*oldest)->used_us)) {
            oldest = at;
        }
    }
    if (oldest == NULL) {
        return NULL;
    }
    e = *oldest;
    *oldest = e->next;
    envs->count--;
    return e;
}

static int make(struct server *server, const char *name, uint32_t version, struct env_entry **ret,
    struct vial_error *err)
{
    struct env_entry *entry = calloc(1, sizeof(*entry));
    struct store_version found;
    char *json = NULL;
    int r;

    if (entry == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an environment");
    }
    (void)pthread_mutex_lock(&server->store_lock);
    r = catalog_get(server->store, name, version, &entry->document, &found, &json, err);
    if (r == VIAL_OK && catalog_shipped(name, version) == NULL) {
        r = store_use(server->store, name, found.version, &entry->use, err);
    }
    (void)pthread_mutex_unlock(&server->store_lock);
    if (r == VIAL_OK) {
        (void)snprintf(entry->name, sizeof(entry->name), "%s", found.name);
        entry->version = found.version;
        r = make_env(server->engine, json, found.document_bytes, entry, err);
    }
    free(json);
    if (r < 0) {
        entry_free(entry);
        return r;
    }
    *ret = entry;
    return VIAL_OK;
}

/* The version that is meant: the newest unless one was given. */
static int resolve(
    struct server *server, const char *name, uint32_t *version, struct vial_error *err)
{
    struct store_version found;
    int r;

    if (*version != 0) {
        return VIAL_OK;
    }
    (void)pthread_mutex_lock(&server->store_lock);
    r = store_get(server->store, name, 0, &found, NULL, err);
    (void)pthread_mutex_unlock(&server->store_lock);
    if (r < 0 && catalog_shipped(name, 0) != NULL) {
        *version = 1;
        return VIAL_OK;
    }
    *version = r < 0 ? 0 : found.version;
    return r;
}

/* A version that is kept here may have been deleted meanwhile. */
static int mark_used(struct server *server, struct env_entry *entry, struct vial_error *err)
{
    struct store_use *use = NULL;
    int r = VIAL_OK;

    (void)pthread_mutex_lock(&server->envs->lock);
    if (entry->use == NULL && catalog_shipped(entry->name, entry->version) == NULL) {
        (void)pthread_mutex_lock(&server->store_lock);
        r = store_use(server->store, entry->name, entry->version, &use, err);
        (void)pthread_mutex_unlock(&server->store_lock);
        entry->use = use;
        entry->is_dropped = r < 0;
    }
    (void)pthread_mutex_unlock(&server->envs->lock);
    return r;
}

int envs_acquire(
    struct server *server, const char *ref, struct env_entry **ret, struct vial_error *err)
{
    struct envs *envs = server->envs;
    struct env_entry *entry, *made = NULL, *old = NULL;
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    uint32_t version = 0;
    int r = environment_ref_parse(ref, name, &version, err);

    r = r < 0 ? r : resolve(server, name, &version, err);
    if (r < 0) {
        return r;
    }
    (void)pthread_mutex_lock(&envs->lock);
    entry = find(envs, name, version);
    if (entry == NULL) { /* two at once make it twice, and one is not kept */
        (void)pthread_mutex_unlock(&envs->lock);
        r = make(server, name, version, &made, err);
        if (r < 0) {
            return r;
        }
        (void)pthread_mutex_lock(&envs->lock);
        entry = find(envs, name, version);
        if (entry == NULL) {
            entry = made;
            made = NULL;
            entry->next = envs->entries;
            envs->entries = entry;
            envs->count++;
            old = envs->count > ENTRIES_MAX ? take_oldest(envs) : NULL;
        }
    }
    entry->refs++;
    entry->used_us = clock_now_us();
    (void)pthread_mutex_unlock(&envs->lock);
    entry_free(made);
    entry_free(old);
    r = mark_used(server, entry, err);
    if (r < 0) {
        envs_release(server, entry);
        return r;
    }
    *ret = entry;
    return VIAL_OK;
}

void envs_release(struct server *server, struct env_entry *entry)
{
    struct envs *envs = server->envs;
    struct env_entry **at;
    int is_over;

    if (entry == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&envs->lock);
    entry->used_us = clock_now_us();
    is_over = --entry->refs == 0 && entry->is_dropped;
    if (is_over) {
        for (at = &envs->entries; *at != entry; at = &(*at)->next) {
        }
        *at = entry->next;
        envs->count--;
    }
    (void)pthread_mutex_unlock(&envs->lock);
    if (is_over) {
        entry_free(entry);
    }
}

/* Lets go of the marks of those that were not used lately, so that others can delete them. */
static void let_go(struct envs *envs, uint64_t now)
{
    struct env_entry *e;

    for (e = envs->entries; e != NULL; e = e->next) {
        if (e->refs == 0 && e->use != NULL && now - e->used_us > USE_US) {
            store_use_free(e->use);
            e->use = NULL;
        }
    }
}

void envs_drop(struct server *server, const char *name, uint32_t version)
{
    struct envs *envs = server->envs;
    struct env_entry **at, *dropped = NULL, *e;

    (void)pthread_mutex_lock(&envs->lock);
    if (name == NULL) {
        let_go(envs, clock_now_us());
    }
    at = &envs->entries;
    while (*at != NULL && name != NULL) {
        e = *at;
        if (strcmp(e->name, name) != 0 || (version != 0 && e->version != version)) {
            at = &e->next;
        } else if (e->refs > 0) {
            e->is_dropped = 1;
            at = &e->next;
        } else {
            *at = e->next;
            e->next = dropped;
            dropped = e;
            envs->count--;
        }
    }
    (void)pthread_mutex_unlock(&envs->lock);
    while (dropped != NULL) {
        e = dropped;
        dropped = e->next;
        entry_free(e);
    }
}
