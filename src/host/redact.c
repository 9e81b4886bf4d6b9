/* redact.c - see redact.h: the automaton of Aho and Corasick for all values at once.
 *
 * Nodes have lists of children rather than tables: nearly every node has one child, and the empty
 * state, in which nearly all bytes are met, has a table. */
#include "host/redact_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void redact_free(struct redact *set)
{
    if (set == NULL) {
        return;
    }
    if (set->nodes != NULL) {
        explicit_bzero(set->nodes, set->nodes_max * sizeof(*set->nodes));
    }
    free(set->nodes);
    explicit_bzero(set, sizeof(*set));
    free(set);
}

static int check(
    const struct redact_secret *secrets, size_t count, size_t *ret_bytes, struct vial_error *err)
{
    size_t bytes = 0, i;

    if (count > REDACT_SECRETS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "%zu secrets are in use at once; %d may be", count,
            REDACT_SECRETS_MAX);
    }
    for (i = 0; i < count; i++) {
        if (secrets[i].len < REDACT_VALUE_BYTES_MIN) {
            return vial__fail(err, VIAL_E_INVALID,
                "the secret %.64s has fewer than %d bytes, so it cannot be kept out of answers",
                secrets[i].name, REDACT_VALUE_BYTES_MIN);
        }
        if (secrets[i].len > REDACT_BYTES_MAX - bytes) {
            return vial__fail(err, VIAL_E_INVALID,
                "the secrets that are in use at once have more than %d bytes", REDACT_BYTES_MAX);
        }
        bytes += secrets[i].len;
    }
    *ret_bytes = bytes;
    return VIAL_OK;
}

/* The child for a byte, made when it is missing: there is room for all of them. */
static uint32_t child_for(struct redact *set, uint32_t parent, unsigned char byte)
{
    struct redact_node *nodes = set->nodes;
    uint32_t child = parent == 0 ? set->first[byte] : nodes[parent].child;

    while (parent != 0 && child != 0 && nodes[child].byte != byte) {
        child = nodes[child].sibling;
    }
    if (child != 0) {
        return child;
    }
    child = (uint32_t)set->nodes_count++;
    nodes[child] = (struct redact_node){
        .byte = byte, .depth = nodes[parent].depth + 1, .sibling = nodes[parent].child};
    nodes[parent].child = child;
    if (parent == 0) {
        set->first[byte] = child;
    }
    return child;
}

static void add_value(struct redact *set, size_t index, const char *bytes, size_t len)
{
    uint32_t at = 0;
    size_t i;

    for (i = 0; i < len; i++) {
        at = child_for(set, at, (unsigned char)bytes[i]);
    }
    if (set->nodes[at].match_len == 0) { /* of two that are the same the first one gives the name */
        set->nodes[at].match_len = (uint32_t)len;
        set->nodes[at].match = (uint16_t)index;
    }
    set->value_bytes_max = len > set->value_bytes_max ? len : set->value_bytes_max;
}

/* Short ones before long ones: the end that a node falls back to is shorter than itself. queue has
 * room for all. */
static void link_nodes(struct redact *set, uint32_t *queue)
{
    struct redact_node *nodes = set->nodes;
    size_t from = 0, to = 0;
    uint32_t child;

    for (child = nodes[0].child; child != 0; child = nodes[child].sibling) {
        queue[to++] = child;
    }
    while (from < to) {
        struct redact_node *node = &nodes[queue[from++]];
        const struct redact_node *end = &nodes[node->fail];

        if (node->match_len == 0) {
            node->match_len = end->match_len;
            node->match = end->match;
        }
        for (child = node->child; child != 0; child = nodes[child].sibling) {
            nodes[child].fail = redact_step(set, node->fail, nodes[child].byte);
            queue[to++] = child;
        }
    }
}

/* Tables of bytes, which do not depend on what comes before. */
static void fill_tables(struct redact *set)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i;

    for (i = 0; alphabet[i] != '\0'; i++) {
        set->base64[(unsigned char)alphabet[i]] = (unsigned char)(i + 1);
    }
    set->base64['-'] = set->base64['+']; /* those of URLs */
    set->base64['_'] = set->base64['/'];
    for (i = 0; i < sizeof(set->wakes); i++) {
        set->wakes[i] =
            set->first[i] != 0 || i == '%' || i == '\\' || (i == '+' && set->first[' '] != 0);
    }
}

int redact_new(
    const struct redact_secret *secrets, size_t count, struct redact **ret, struct vial_error *err)
{
    uint32_t *queue;
    struct redact *set;
    size_t bytes = 0, i;
    int r = check(secrets, count, &bytes, err);

    if (r < 0) {
        return r;
    }
    set = calloc(1, sizeof(*set));
    queue = malloc((bytes + 1) * sizeof(*queue));
    if (set != NULL) {
        set->nodes_max = bytes + 1;
        set->nodes = calloc(set->nodes_max, sizeof(*set->nodes));
    }
    if (set == NULL || queue == NULL || set->nodes == NULL) {
        free(queue);
        redact_free(set);
        return vial__fail(err, VIAL_E_NOMEM, "no memory to keep secrets out of answers");
    }
    set->nodes_count = 1;
    set->count = count;
    for (i = 0; i < count; i++) {
        (void)snprintf(set->names[i], sizeof(set->names[i]), "%s", secrets[i].name);
        add_value(set, i, secrets[i].bytes, secrets[i].len);
    }
    link_nodes(set, queue);
    free(queue);
    fill_tables(set);
    *ret = set;
    return VIAL_OK;
}
