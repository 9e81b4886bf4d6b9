/* memfs_data.c - the contents of files; see memfs_tree.h.
 *
 * A file is a table of chunks. A chunk that nobody wrote to is not there, and the last one of a
 * growing file doubles until it is whole, so that small files are small. Room is taken for whole
 * pages up to the last byte written in a chunk: that is what the memory really is, within twice. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cell/memfs_tree.h"

enum { CAPACITY_FIRST = 256, CHUNKS_FIRST = 4 };

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + MEMFS_PAGE - 1) / MEMFS_PAGE;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t memfs_data_read(const struct memfs_data *data, char *bytes, size_t len, uint64_t offset)
{
    const struct memfs_chunk *c;
    size_t done = 0, at, piece, there;

    if (offset >= data->size) {
        return 0;
    }
    len = len < data->size - offset ? len : (size_t)(data->size - offset);
    while (done < len) {
        at = (size_t)((offset + done) % MEMFS_CHUNK);
        piece = min_size(len - done, MEMFS_CHUNK - at);
        c = (offset + done) / MEMFS_CHUNK < data->chunks_count
                ? &data->chunks[(offset + done) / MEMFS_CHUNK]
                : NULL;
        there = c != NULL && c->used > at ? min_size(piece, c->used - at) : 0;
        if (there > 0) {
            memcpy(bytes + done, c->bytes + at, there);
        }
        memset(bytes + done + there, 0, piece - there);
        done += piece;
    }
    return len;
}

/* Makes the table long enough for a chunk. */
static int reach_chunk(struct memfs_data *data, size_t index)
{
    size_t count = data->chunks_count != 0 ? 2 * data->chunks_count : CHUNKS_FIRST;
    struct memfs_chunk *grown;

    if (index < data->chunks_count) {
        return 0;
    }
    count = index < count ? count : index + 1;
    grown = realloc(data->chunks, count * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    memset(grown + data->chunks_count, 0, (count - data->chunks_count) * sizeof(*grown));
    data->chunks = grown;
    data->chunks_count = count;
    return 0;
}

static uint32_t capacity_for(uint32_t used)
{
    uint32_t capacity = CAPACITY_FIRST;

    while (capacity < used) {
        capacity *= 2; /* ends at MEMFS_CHUNK, which is a power of two */
    }
    return capacity;
}

/* Makes the bytes of a chunk from at to end writable, or as many of them as there is room for:
 * where they end, or -errno. */
static int64_t open_chunk(
    struct memfs *fs, struct memfs_data *data, struct memfs_chunk *c, uint32_t at, uint32_t end)
{
    uint64_t had = pages_of(c->used), want = pages_of(end), taken = had;
    uint32_t capacity;
    char *grown;

    if (end <= c->used) {
        return end;
    }
    while (taken < want && memfs_take_pages(fs, 1) == 0) {
        taken++;
    }
    end = taken < want ? (uint32_t)(taken * MEMFS_PAGE) : end;
    capacity = capacity_for(end);
    grown = end > at && capacity > c->capacity ? realloc(c->bytes, capacity) : c->bytes;
    if (end <= at || grown == NULL) {
        memfs_give_pages(fs, taken - had);
        return end <= at ? -ENOSPC : -ENOMEM;
    }
    c->bytes = grown;
    c->capacity = capacity > c->capacity ? capacity : c->capacity;
    data->pages += taken - had;
    if (at > c->used) {
        memset(c->bytes + c->used, 0, at - c->used);
    }
    c->used = end;
    return end;
}

/* Writes what lies in one chunk; how many bytes, or -errno. */
static int64_t write_piece(
    struct memfs *fs, struct memfs_data *data, const char *bytes, size_t len, uint64_t offset)
{
    size_t index = (size_t)(offset / MEMFS_CHUNK);
    uint32_t at = (uint32_t)(offset % MEMFS_CHUNK);
    uint32_t end = (uint32_t)(at + min_size(len, MEMFS_CHUNK - at));
    int64_t r = reach_chunk(data, index);

    r = r < 0 ? r : open_chunk(fs, data, &data->chunks[index], at, end);
    if (r < 0) {
        return r;
    }
    memcpy(data->chunks[index].bytes + at, bytes, (size_t)(r - at));
    return r - at;
}

int64_t memfs_data_write(
    struct memfs *fs, struct memfs_data *data, const char *bytes, size_t len, uint64_t offset)
{
    uint64_t max = fs->limits.bytes_max;
    size_t done = 0;
    int64_t n = 0;

    if (len == 0) {
        return 0;
    }
    if (offset >= max) {
        return -EFBIG;
    }
    len = len < max - offset ? len : (size_t)(max - offset);
    while (done < len) {
        n = write_piece(fs, data, bytes + done, len - done, offset + done);
        if (n < 0) {
            break;
        }
        done += (size_t)n;
    }
    if (done > 0 && offset + done > data->size) {
        data->size = offset + done;
    }
    return done > 0 ? (int64_t)done : n;
}

/* A chunk has no more than its first used bytes from now on. */
static void cut_chunk(
    struct memfs *fs, struct memfs_data *data, struct memfs_chunk *c, uint32_t used)
{
    uint32_t capacity = capacity_for(used);
    uint64_t pages;
    char *shrunk;

    if (c->used <= used) {
        return;
    }
    pages = pages_of(c->used) - pages_of(used);
    memfs_give_pages(fs, pages);
    data->pages -= pages;
    c->used = used;
    if (used == 0) {
        free(c->bytes);
        *c = (struct memfs_chunk){0};
    } else if (capacity < c->capacity) {
        shrunk = realloc(c->bytes, capacity);
        c->bytes = shrunk != NULL ? shrunk : c->bytes;
        c->capacity = shrunk != NULL ? capacity : c->capacity;
    }
}

int memfs_data_resize(struct memfs *fs, struct memfs_data *data, uint64_t size)
{
    size_t first = (size_t)(size / MEMFS_CHUNK), i;

    if (size > fs->limits.bytes_max) {
        return -EFBIG;
    }
    for (i = first; i < data->chunks_count && size < data->size; i++) {
        cut_chunk(fs, data, &data->chunks[i], i == first ? (uint32_t)(size % MEMFS_CHUNK) : 0);
    }
    if (size == 0) {
        free(data->chunks);
        data->chunks = NULL;
        data->chunks_count = 0;
    }
    data->size = size;
    return 0;
}

int memfs_data_copy(struct memfs *fs, const struct memfs_data *from, struct memfs_data *to)
{
    const struct memfs_chunk *c;
    int64_t n;
    size_t i;

    assert(from != to);
    for (i = 0; i < from->chunks_count; i++) {
        c = &from->chunks[i];
        n = c->used == 0 ? 0
                         : memfs_data_write(fs, to, c->bytes, c->used, (uint64_t)i * MEMFS_CHUNK);
        if (n != (int64_t)c->used) {
            return n < 0 ? (int)n : -ENOSPC;
        }
    }
    return memfs_data_resize(fs, to, from->size);
}

void memfs_data_release(struct memfs *fs, struct memfs_data *data)
{
    size_t i;

    for (i = 0; i < data->chunks_count; i++) {
        free(data->chunks[i].bytes);
    }
    free(data->chunks);
    memfs_give_pages(fs, data->pages);
    *data = (struct memfs_data){0};
}
