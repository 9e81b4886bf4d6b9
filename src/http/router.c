/* router.c - see router.h. The table itself is in routes.c. */
#include "http/router.h"

#include <stdio.h>
#include <string.h>

#include "http/guard.h"

static size_t part_len(const char *text)
{
    return strcspn(text, "/");
}

/* Does the path have the form of the route? */
static int matches(const char *route, const char *path)
{
    while (*route == '/' && *path == '/') {
        size_t want, have;

        route++;
        path++;
        want = part_len(route);
        have = part_len(path);
        if (route[0] == '{' && want > 2 && route[want - 2] == '*') {
            return *path != '\0';
        }
        if (route[0] == '{' ? have == 0 : (want != have || strncmp(route, path, want) != 0)) {
            return 0;
        }
        route += want;
        path += have;
    }
    return *route == '\0' && *path == '\0';
}

/* Cuts the path, which has the form, into the params and decodes them. 0, or -1. */
static int cut(const char *route, char *path, const char *params[EXCHANGE_PARAMS_MAX])
{
    size_t count = 0;

    while (*route == '/') {
        size_t want, have;
        char *end;

        route++;
        path++;
        want = part_len(route);
        have = part_len(path);
        if (route[0] == '{') {
            int takes_rest = route[want - 2] == '*';

            end = takes_rest ? path + strlen(path) : path + have;
            params[count++] = path;
            if (*end != '\0') {
                *end = '\0';
                if (guard_decode(path) < 0) {
                    return -1;
                }
                path = end; /* stands where the slash was */
                route += want;
                continue;
            }
            return guard_decode(path);
        }
        route += want;
        path += have;
    }
    return 0;
}

static void note_method(const char *method, char *allow, size_t size)
{
    size_t len = strlen(allow);

    if (strstr(allow, method) == NULL) {
        (void)snprintf(allow + len, size - len, "%s%s", len > 0 ? ", " : "", method);
    }
}

const struct route *router_find(const char *method, const char *path, char *copy,
    const char *params[EXCHANGE_PARAMS_MAX], char *ret_allow, size_t allow_size, int *ret_bad)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const struct route *r;

    ret_allow[0] = '\0';
    *ret_bad = 0;
    for (r = ROUTES; r->method != NULL; r++) {
        if (!matches(r->path, path)) {
            continue;
        }
        if (strcmp(r->method, wanted) == 0) {
            *ret_bad = cut(r->path, copy, params) < 0;
            return *ret_bad ? NULL : r;
        }
        note_method(r->method, ret_allow, allow_size);
    }
    return NULL;
}
