/* audit_head.c - the file that knows how far the chain went, apart from the chain.
 *
 * Two lines of the same length take turns, so that one is whole whatever happens while the other is
 * written; each has a check of its own. The older is the one that is overwritten. The kernel
 * writes the file to the disk when it likes: a machine that loses its power may find a head that
 * is some seconds old, which is no fault, and never one that is ahead of the database. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/audit_inside.h"
#include "store/lock.h"

enum {
    SLOTS = 2,
    SLOT_BYTES = 256,
    CHECK_CHARS = 16,
    WAIT_MS = 1000, /* somebody else writes one line */
};

int audit_head_open(const char *directory, int *ret_fd, struct vial_error *err)
{
    char path[DATABASE_PATH_BYTES_MAX];

    (void)snprintf(path, sizeof(path), "%s/audit.head", directory);
    return lock_open(path, ret_fd, err);
}

/* "vial-audit-head 1 SEQ:HASH CHECK" and spaces up to the newline. */
static void make_slot(const struct audit_head *head, char ret[SLOT_BYTES + 1])
{
    char text[AUDIT_HEAD_TEXT_BYTES], line[SLOT_BYTES], hex[2 * AUDIT_HASH_BYTES + 1];
    unsigned char check[AUDIT_HASH_BYTES];
    int n;

    audit_head_text(head, text);
    n = snprintf(line, sizeof(line), "vial-audit-head 1 %s", text);
    audit_sha256(line, (size_t)n, check);
    audit_hex(check, hex);
    memset(ret, ' ', SLOT_BYTES);
    memcpy(ret, line, (size_t)n);
    memcpy(ret + n + 1, hex, CHECK_CHARS);
    ret[SLOT_BYTES - 1] = '\n';
    ret[SLOT_BYTES] = '\0';
}

/* 1 when the slot is whole. */
static int parse_slot(const char slot[SLOT_BYTES], struct audit_head *ret)
{
    static const char begin[] = "vial-audit-head 1 ";
    const char *text = slot + sizeof(begin) - 1;
    const char *end = memchr(text, ' ', SLOT_BYTES - sizeof(begin));
    char again[SLOT_BYTES + 1];
    struct audit_head head;

    if (memcmp(slot, begin, sizeof(begin) - 1) != 0 || end == NULL ||
        audit_head_parse(text, (size_t)(end - text), &head) < 0) {
        return 0;
    }
    make_slot(&head, again);
    if (memcmp(slot, again, SLOT_BYTES) != 0) {
        return 0;
    }
    *ret = head;
    return 1;
}

/* The newest whole slot, or -1. *ret_other is the one to be written next. */
static int find_newest(int fd, struct audit_head *ret, int *ret_other)
{
    char bytes[SLOTS * SLOT_BYTES];
    struct audit_head heads[SLOTS];
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0); /* a regular file: not cut */
    int is_whole[SLOTS], i, newest = -1;

    for (i = 0; i < SLOTS; i++) {
        is_whole[i] = n >= (ssize_t)(i + 1) * SLOT_BYTES &&
                      parse_slot(bytes + (size_t)i * SLOT_BYTES, &heads[i]);
        if (is_whole[i] && (newest < 0 || heads[i].seq > heads[newest].seq)) {
            newest = i;
        }
    }
    if (newest >= 0) {
        *ret = heads[newest];
    }
    *ret_other = newest == 0 ? 1 : 0;
    return newest;
}

int audit_head_read(int fd, struct audit_head *ret)
{
    int other;

    return find_newest(fd, ret, &other) >= 0;
}

int audit_head_put(int fd, const struct audit_head *head, struct vial_error *err)
{
    const struct lock_place place = {.environment = 0};
    char slot[SLOT_BYTES + 1];
    struct audit_head there;
    int r = lock_take(fd, &place, LOCK_EXCLUSIVE, WAIT_MS, err);
    int other = 0, newest;
    ssize_t n = SLOT_BYTES;

    if (r < 0) {
        return vial__wrap(err, r, "the head of the audit");
    }
    newest = find_newest(fd, &there, &other);
    if (newest < 0 || there.seq < head->seq) {
        make_slot(head, slot);
        n = pwrite(fd, slot, SLOT_BYTES, (off_t)other * SLOT_BYTES);
    }
    if (n == SLOT_BYTES && newest < 0) {
        (void)fsync(fd); /* a file that is there but empty would look like a fault */
    }
    r = n == SLOT_BYTES
            ? VIAL_OK
            : vial__fail_sys(err, n < 0 ? errno : ENOSPC, "cannot write the head of the audit");
    lock_drop(fd, &place);
    return r;
}
