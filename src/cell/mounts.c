/* mounts.c - see mounts.h. */
#include "cell/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"
#include "cell/calls.h"
#include "wire/field.h"
#include "wire/frame.h"
#include "wire/library.h"
#include "wire/look.h"

static uintptr_t numbers[MEMFS_MOUNTS_MAX]; /* what the functions below are given */

/* Asks the host and waits. 0, or -errno. */
static int ask(
    void *user, uint32_t what, const char *path, uint64_t offset, size_t len, struct answer *ret)
{
    struct {
        struct look look;
        char path[LOOK_PATH_BYTES_MAX];
    } question = {.look = {.mount = (uint32_t) * (uintptr_t *)user,
                      .what = what,
                      .offset = offset,
                      .len = (uint32_t)len}};
    size_t path_len = strlen(path);
    uint32_t sys;

    if (path_len > sizeof(question.path)) {
        return -ENAMETOOLONG;
    }
    memcpy(question.path, path, path_len);
    if (!calls_wait_for(calls_add_claimed(LOOK_TOOL, CALL_CBOR, (const char *)&question,
                            sizeof(question.look) + path_len),
            ret)) {
        return -EINTR;
    }
    if (ret->kind == ANSWER_ERRNO && ret->len == sizeof(sys)) {
        memcpy(&sys, ret->bytes, sizeof(sys));
        return -(int)sys;
    }
    return ret->kind == ANSWER_BYTES ? 0 : -EIO;
}

static int served_stat(void *user, const char *path, struct memfs_served_stat *ret)
{
    struct look_stat seen;
    struct answer answer;
    int r = ask(user, LOOK_STAT, path, 0, 0, &answer);

    if (r < 0) {
        return r;
    }
    if (answer.len != sizeof(seen)) {
        return -EIO;
    }
    memcpy(&seen, answer.bytes, sizeof(seen));
    *ret = (struct memfs_served_stat){
        .mode = (seen.type == LOOK_DIRECTORY ? S_IFDIR : S_IFREG) | (seen.mode & 0777),
        .size = seen.size,
        .mtime = {.tv_sec = seen.mtime_s, .tv_nsec = seen.mtime_ns}};
    return 0;
}

static ssize_t served_read(void *user, const char *path, uint64_t offset, char *bytes, size_t len)
{
    struct answer answer;
    int r;

    len = len < LOOK_BYTES_MAX ? len : LOOK_BYTES_MAX;
    r = ask(user, LOOK_READ, path, offset, len, &answer);
    if (r < 0) {
        return r;
    }
    if (answer.len > len) {
        return -EIO;
    }
    memcpy(bytes, answer.bytes, answer.len);
    return (ssize_t)answer.len;
}

/* Hands on the names of one answer; how many, or what fn returned when that is not 0, or -EIO. */
static int64_t hand_on(
    const char *bytes, size_t len, memfs_entry_fn fn, void *fn_user, int *ret_stopped)
{
    int64_t count = 0;
    size_t at = 0;
    int r;

    while (at + 2 <= len) {
        size_t name_len = (unsigned char)bytes[at + 1];

        if (name_len == 0 || at + 2 + name_len > len) {
            return -EIO;
        }
        r = fn(bytes + at + 2, name_len, bytes[at] == LOOK_DIRECTORY ? S_IFDIR : S_IFREG, fn_user);
        if (r != 0) {
            *ret_stopped = r;
            return count;
        }
        at += 2 + name_len;
        count++;
    }
    return count;
}

static int served_list(void *user, const char *path, memfs_entry_fn fn, void *fn_user)
{
    static char names[LOOK_BYTES_MAX]; /* fn may ask the host as well */
    struct answer answer;
    uint64_t offset = 0;
    int stopped = 0;
    int64_t count;
    int r;

    for (;;) {
        r = ask(user, LOOK_LIST, path, offset, sizeof(names), &answer);
        if (r < 0 || answer.len == 0 || answer.len > sizeof(names)) {
            return r < 0 ? r : answer.len == 0 ? 0 : -EIO;
        }
        memcpy(names, answer.bytes, answer.len);
        count = hand_on(names, answer.len, fn, fn_user, &stopped);
        if (count < 0 || stopped != 0) {
            return count < 0 ? (int)count : stopped;
        }
        offset += (uint64_t)count;
    }
}

int mounts_make_library(struct memfs *fs, const char *const *paths, unsigned count)
{
    static uintptr_t library_numbers[LIBRARY_DATA_COUNT];
    struct memfs_served served = {.list = served_list, .stat = served_stat, .read = served_read};
    unsigned i;
    int r = 0;

    for (i = 0; i < count && i < LIBRARY_DATA_COUNT && r == 0; i++) {
        library_numbers[i] = LIBRARY_MOUNT_FIRST + i;
        served.user = &library_numbers[i];
        r = memfs_mount_fixed(fs, paths[i], &served);
    }
    return r;
}

int mounts_make(struct memfs *fs, const struct guest_start *start)
{
    char name[FILE_NAME_BYTES_MAX + 1];
    struct memfs_served served = {.list = served_list, .stat = served_stat, .read = served_read};
    struct field f;
    uintptr_t count = 0;
    size_t at = 0;
    int r = 0;

    while (r == 0 && field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag != FIELD_MOUNT) {
            continue;
        }
        if (count == MEMFS_MOUNTS_MAX || f.len > FILE_NAME_BYTES_MAX) {
            return -E2BIG;
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)f.len, f.bytes);
        numbers[count] = count;
        served.user = &numbers[count++];
        r = memfs_mount(fs, name, &served);
    }
    return r;
}
