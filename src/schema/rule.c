/* rule.c - see rule.h: the memory of rules, and how a name finds its entry. */
#include "schema/rule.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 4096,
    ALIGN = 16,
    LINEAR_MAX = 6, /* up to so many entries are looked at one by one */
};

struct rule_chunk {
    struct rule_chunk *next;
    size_t used;
    size_t size;
    _Alignas(ALIGN) char bytes[];
};

void *rule_take(struct schema *schema, size_t size)
{
    struct rule_chunk *chunk = schema->chunks;
    size_t want = (size + ALIGN - 1) / ALIGN * ALIGN;
    size_t room;
    void *result;

    if (chunk == NULL || chunk->size - chunk->used < want) {
        room = want > CHUNK_BYTES ? want : CHUNK_BYTES;
        chunk = calloc(1, sizeof(*chunk) + room);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->size = room;
        chunk->next = schema->chunks;
        schema->chunks = chunk;
    }
    result = chunk->bytes + chunk->used;
    chunk->used += want;
    return result;
}

void rule_release(struct schema *schema)
{
    struct rule_chunk *next;
    size_t i;

    while (schema->chunks != NULL) {
        next = schema->chunks->next;
        free(schema->chunks);
        schema->chunks = next;
    }
    for (i = 0; i < schema->patterns_count; i++) {
        pattern_free(schema->patterns[i]);
    }
    free(schema->patterns);
    schema->patterns = NULL;
    schema->patterns_count = 0;
}

static int compare(const struct rule_entry *entry, const char *name, uint32_t len)
{
    if (entry->len != len) {
        return entry->len < len ? -1 : 1;
    }
    return memcmp(entry->name, name, len);
}

const struct rule_entry *rule_find(
    const struct rule_object *object, const char *name, uint32_t len, uint32_t hint)
{
    uint32_t low = 0, high = object->count, middle;
    const struct rule_entry *entry;
    int d;

    if (hint < object->count && compare(&object->entries[hint], name, len) == 0) {
        return &object->entries[hint];
    }
    if (object->count <= LINEAR_MAX) {
        for (entry = object->entries; entry < object->entries + object->count; entry++) {
            if (compare(entry, name, len) == 0) {
                return entry;
            }
        }
        return NULL;
    }
    while (low < high) {
        middle = low + (high - low) / 2;
        entry = &object->entries[object->sorted[middle]];
        d = compare(entry, name, len);
        if (d == 0) {
            return entry;
        }
        if (d < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
