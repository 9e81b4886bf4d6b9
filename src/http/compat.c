/* compat.c - see compat.h: making and deleting environments of JSCodeSandbox.
 *
 * Each is two environments of ours. NAME is what programs run in: its tools are the endowments.
 * NAME--impl is where the implementation runs: its prefix is that code, and its network reaches the
 * backends only. How programs are run is in compat_run.c. */
#include "http/compat.h"
#include "http/change.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/json.h"
#include "host/catalog.h"
#include "http/compat_check.h"
#include "http/compat_inside.h"
#include "http/envs.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/server.h"
#include "http/server_inside.h"
#include "policy/net_url.h"
#include "schema/tree.h"

enum { DOCUMENT_MAX = 16 << 20, ADDRESSES_MAX = 16 };

/* ---- answers ---- */

void compat_refuse(struct exchange *x, const char *type, const char *text)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, 1 << 16);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "errorType");
    json_text(&w, type);
    json_key(&w, "error");
    json_text(&w, text);
    json_end_object(&w);
    (void)!json_finish(&w);
    answer_json(x, 400, &out);
}

int compat_name(struct exchange *x, const char *given, size_t len, char name[COMPAT_ENV_BYTES + 1])
{
    size_t i;

    for (i = 0; i < len && i < COMPAT_ENV_BYTES; i++) {
        char c = given[i];

        name[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (!((name[i] >= 'a' && name[i] <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                c == '_')) {
            break;
        }
    }
    name[i] = '\0';
    if (i != len || i == 0 || name[0] == '-' || name[0] == '_') {
        compat_refuse(x, "InvalidRequest",
            "the rule for names of environments: letters, digits, - and _, up to 58, beginning "
            "with a letter or a digit; upper and lower case are the same");
        return -1;
    }
    return 0;
}

/* ---- documents ---- */

/* A schema is one when it is JSON; the names of types that JSCodeSandbox has are only told. */
static int is_schema(const char *text)
{
    return text[0] == '{' && json_check(text, strlen(text), 64, NULL) == 0;
}

static void put_tool(struct json_writer *w, const struct compat_endowment *e)
{
    char description[COMPAT_TEXT_BYTES_MAX * 3 + 64];

    (void)snprintf(description, sizeof(description), "%s%s%s%s%s", e->description,
        e->input[0] != '\0' && !is_schema(e->input) ? " Input: " : "",
        is_schema(e->input) ? "" : e->input,
        e->output[0] != '\0' && !is_schema(e->output) ? " Output: " : "",
        is_schema(e->output) ? "" : e->output);
    json_begin_object(w);
    json_key(w, "name");
    json_text(w, e->name);
    if (description[0] != '\0') {
        json_key(w, "description");
        json_text(w, description);
    }
    if (is_schema(e->input)) {
        json_key(w, "input");
        json_raw(w, e->input, strlen(e->input));
    }
    if (is_schema(e->output)) {
        json_key(w, "output");
        json_raw(w, e->output, strlen(e->output));
    }
    json_key(w, "mode");
    json_text(w, "sync"); /* programs may forget await */
    json_end_object(w);
}

static void put_limits(struct json_writer *w)
{
    json_key(w, "limits");
    json_raw(w, "{\"default\":{\"wall_ms_max\":60000},\"max\":{\"wall_ms_max\":600000}}",
        strlen("{\"default\":{\"wall_ms_max\":60000},\"max\":{\"wall_ms_max\":600000}}"));
}

static int write_guest(const char *name, const struct compat_endowment *list, size_t count,
    struct buf *out, struct vial_error *err)
{
    struct json_writer w;
    size_t i;

    json_init(&w, out, err);
    json_begin_object(&w);
    json_key(&w, "name");
    json_text(&w, name);
    json_key(&w, "description");
    json_text(&w, "Made by the API of JSCodeSandbox.");
    json_key(&w, "entry");
    json_text(&w, "main");
    put_limits(&w);
    json_key(&w, "tools");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        put_tool(&w, &list[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    return json_finish(&w);
}

/* Addresses that are not public are named one by one, when the operator allows such at all. */
static void put_addresses(struct json_writer *w, const struct net_url *url)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL, *at;
    char host[NET_HOST_BYTES_MAX + 3], text[64];
    size_t len = strlen(url->host), count = 0;

    (void)snprintf(host, sizeof(host), "%.*s", (int)(url->host[0] == '[' ? len - 2 : len),
        url->host[0] == '[' ? url->host + 1 : url->host);
    json_key(w, "addresses");
    json_begin_array(w);
    if (getaddrinfo(host, NULL, &hints, &found) == 0) {
        for (at = found; at != NULL && count < ADDRESSES_MAX; at = at->ai_next) {
            if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0,
                    NI_NUMERICHOST) == 0) {
                json_text(w, text);
                count++;
            }
        }
        freeaddrinfo(found);
    }
    json_end_array(w);
}

static int put_rule(struct json_writer *w, const struct server *server, const char *text,
    size_t len, struct vial_error *err)
{
    struct net_url url;
    const char *why = NULL;

    if (net_url_parse(text, len, &url, &why) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "the backend URL \"%.*s\" %s",
            (int)(len < 200 ? len : 200), text, why);
    }
    json_begin_object(w);
    json_key(w, "effect");
    json_text(w, "allow");
    json_key(w, "match");
    json_begin_object(w);
    json_key(w, "scheme");
    json_text(w, net_scheme_name(url.scheme));
    json_key(w, "host");
    json_text(w, url.host);
    json_key(w, "port");
    json_u64(w, url.port);
    if (url.path.len > 1) {
        json_key(w, "path");
        json_write_string(
            w, url.path.data, url.path.len - (url.path.data[url.path.len - 1] == '/'));
    }
    json_end_object(w);
    if (server->options->compat_private) {
        put_addresses(w, &url);
    }
    json_end_object(w);
    net_url_release(&url);
    return VIAL_OK;
}

static int write_implementation(const struct server *server, const char *name, const struct tree *t,
    struct buf *out, struct vial_error *err)
{
    uint32_t code = tree_member(t, 0, "codeImplementation");
    uint32_t urls = tree_member(t, 0, "backendUrls"), i;
    int has_urls = urls != 0 && t->values[urls].kind == TREE_OBJECT, r = VIAL_OK;
    struct json_writer w;

    json_init(&w, out, err);
    json_begin_object(&w);
    json_key(&w, "name");
    json_text(&w, name);
    json_key(&w, "description");
    json_text(&w, "The implementation behind an environment of JSCodeSandbox.");
    put_limits(&w);
    json_key(&w, "prefix");
    json_write_string(&w, t->values[code].text, t->values[code].len);
    json_key(&w, "globals");
    json_begin_object(&w);
    json_key(&w, COMPAT_BACKENDS);
    if (has_urls) {
        json_raw(&w, t->values[urls].text, t->values[urls].len);
    } else {
        json_raw(&w, "{}", 2);
    }
    json_end_object(&w);
    json_key(&w, "permissions");
    json_begin_object(&w);
    json_key(&w, "net");
    json_begin_array(&w);
    for (i = has_urls ? tree_first(urls) : 0; has_urls && i != tree_end(t, urls) && r == VIAL_OK;
         i = tree_next(t, tree_next(t, i))) {
        const struct tree_value *v = &t->values[tree_next(t, i)];

        r = put_rule(&w, server, v->text, v->len, err);
    }
    json_end_array(&w);
    json_end_object(&w);
    json_end_object(&w);
    return r < 0 ? r : json_finish(&w);
}

/* ---- making ---- */

/* No packages yet. */
static int check_packages(const struct tree *t, struct vial_error *err)
{
    uint32_t at = tree_member(t, 0, "packageJson"), dependencies;
    const struct tree_value *v = &t->values[at];
    struct tree own;
    int r;

    if (at == 0 || v->kind == TREE_NULL || (v->kind == TREE_STRING && v->len == 0)) {
        return VIAL_OK;
    }
    r = tree_read(&own, v->text, v->len, err);
    if (r < 0) {
        return vial__fail(err, VIAL_E_INVALID, "the rule for packageJson: it is a JSON object");
    }
    dependencies = tree_member(&own, 0, "dependencies");
    if (dependencies != 0 && own.values[dependencies].count > 0) {
        r = vial__fail(err, VIAL_E_INVALID,
            "packageJson has dependencies, and packages are not available here yet: use fetch "
            "instead of axios and the like, or put the code into codeImplementation");
    }
    tree_release(&own);
    return r;
}

static int put_document(struct exchange *x, const struct buf *document, struct vial_error *err)
{
    struct store_version made;
    struct buf report;
    int r;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    (void)pthread_mutex_lock(&x->server->store_lock);
    r = catalog_create(x->server->store, document->data, document->len, &made, &report, err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    buf_release(&report);
    return r;
}

static void drop(struct exchange *x, const char *name)
{
    envs_drop(x->server, name, 0);
    (void)pthread_mutex_lock(&x->server->store_lock);
    (void)!store_delete(x->server->store, name, 0, 1, NULL);
    (void)pthread_mutex_unlock(&x->server->store_lock);
}

/* Does the implementation start? */
static int try_it(struct exchange *x, const char *name, struct vial_error *err)
{
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct env_entry *entry = NULL;
    struct vial_result *result = NULL;
    int r = envs_acquire(x->server, name, &entry, err);

    r = r < 0 ? r : vial_env_start(entry->env, &result, err);
    if (r == VIAL_OK && vial_result_status(result) != VIAL_STATUS_OK) {
        vial_result_error(result, &error);
        r = vial__fail(err, VIAL_E_INVALID, "codeImplementation does not start: %s: %s",
            error.name != NULL ? error.name : "", error.message != NULL ? error.message : "");
    }
    vial_result_free(result);
    envs_release(x->server, entry);
    return r;
}

static int create(
    struct exchange *x, const struct tree *t, const char *name, struct vial_error *err)
{
    uint32_t code = tree_member(t, 0, "codeImplementation");
    char inside[COMPAT_ENV_BYTES + 16];
    struct compat_endowment *list = NULL;
    struct buf guest, implementation;
    size_t count = 0;
    int r = check_packages(t, err);

    r = r < 0 ? r
              : compat_check_code(t->values[code].text, t->values[code].len, &list, &count, err);
    if (r < 0) {
        return r;
    }
    (void)snprintf(inside, sizeof(inside), "%s" COMPAT_INSIDE, name);
    buf_init(&guest, DOCUMENT_MAX);
    buf_init(&implementation, DOCUMENT_MAX);
    r = write_guest(name, list, count, &guest, err);
    r = r < 0 ? r : write_implementation(x->server, inside, t, &implementation, err);
    r = r < 0 ? r : put_document(x, &guest, err);
    if (r == VIAL_OK) {
        drop(x, inside); /* of an environment that was deleted by other means */
        r = put_document(x, &implementation, err);
        r = r < 0 ? r : try_it(x, inside, err);
        if (r < 0) {
            drop(x, inside);
            drop(x, name);
        }
    }
    buf_release(&guest);
    buf_release(&implementation);
    free(list);
    return r;
}

/* The body as its schema wants it; 0 with *t to be released, or -1 with an answer. */
int compat_body(struct exchange *x, const char *schema, struct tree *t)
{
    struct vial_error err;
    struct buf report, text;
    int r;

    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    r = schemas_check(&x->server->schemas, schema, x->body.data != NULL ? x->body.data : "",
        x->body.len, &report, &err);
    if (r > 0 && schema_report_text(report.data, report.len, &text, NULL) == 0) {
        compat_refuse(x, "InvalidRequest", text.data);
    } else if (r != 0) {
        compat_refuse(x, "InvalidRequest", r > 0 ? "the body is not what this takes" : err.text);
    }
    buf_release(&report);
    buf_release(&text);
    if (r != 0) {
        return -1;
    }
    return tree_read(t, x->body.data, x->body.len, &err) < 0 ? -1 : 0;
}

void compat_create(struct exchange *x)
{
    char name[COMPAT_ENV_BYTES + 1];
    struct vial_error err;
    struct tree t;
    uint32_t given;
    int r;

    if (change_may_begin(x) < 0 || compat_body(x, "CompatEnvironment", &t) < 0) {
        return;
    }
    given = tree_member(&t, 0, "environmentName");
    if (compat_name(x, t.values[given].text, t.values[given].len, name) == 0) {
        r = create(x, &t, name, &err);
        if (r == VIAL_OK) {
            change_was_made(x, "environment.create", name, "JSCodeSandbox");
            answer_empty(x, 201);
            answer_header(x, "Location", "/api/environments/%s", name);
        } else if (err.sys == EEXIST) {
            compat_refuse(x, "InvalidRequest", "an environment of this name exists already");
        } else if (r == VIAL_E_INVALID) {
            compat_refuse(x, "InvalidRequest", err.text);
        } else {
            answer_error(x, &err);
        }
    }
    tree_release(&t);
}

void compat_delete(struct exchange *x)
{
    char name[COMPAT_ENV_BYTES + 1], inside[COMPAT_ENV_BYTES + 16];
    struct vial_error err;
    int r;

    if (compat_name(x, x->params[0], strlen(x->params[0]), name) < 0 || change_may_begin(x) < 0) {
        return;
    }
    (void)snprintf(inside, sizeof(inside), "%s" COMPAT_INSIDE, name);
    (void)pthread_mutex_lock(&x->server->store_lock);
    r = store_get(x->server->store, inside, 0, NULL, NULL, &err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    if (r < 0) {
        compat_refuse(x, "InvalidRequest", "there is no such environment");
        return;
    }
    drop(x, name);
    drop(x, inside);
    change_was_made(x, "environment.delete", name, "JSCodeSandbox");
    answer_empty(x, 204);
}
