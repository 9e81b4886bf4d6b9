/* raw_library.c - raw attacks on the host as a server of files: a cell for Python looks into the
 * directories of its library through the host (wire/look.h), and here asks for others. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "raw.h"
#include "wire/frame.h"
#include "wire/library.h"
#include "wire/look.h"

enum {
    CONTROL = 3,
    ZONES = LIBRARY_MOUNT_FIRST + 1, /* /usr/share/zoneinfo */
    FLOOD = 100 * 1000,              /* looks that nobody waits for: six gigabytes of answers */
};

static uint32_t last_id = 1000000; /* above what the cell itself has used */

struct question {
    struct frame_header frame;
    struct call_head head;
    struct look look;
    char path[LOOK_PATH_BYTES_MAX + 64];
};

static void ask(const struct look *look, const char *path, size_t path_len)
{
    static struct question q;
    uint32_t len = (uint32_t)(sizeof(q.head) + sizeof(q.look) + path_len);

    q.frame = (struct frame_header){.type = FRAME_CALL, .len = len};
    q.head = (struct call_head){.id = ++last_id, .tool = LOOK_TOOL, .kind = CALL_CBOR};
    q.look = *look;
    memcpy(q.path, path, path_len);
    if (fd_write_all(CONTROL, &q, sizeof(q.frame) + len) < 0) {
        _exit(1);
    }
}

/* The name of the errno that came as an answer, or how many bytes did. */
static const char *answer(void)
{
    static char bytes[LOOK_BYTES_MAX + 1];
    struct frame_header frame;
    struct answer_head head;
    uint32_t sys;
    uint32_t len;

    if (fd_read_up_to(CONTROL, &frame, sizeof(frame)) != (ssize_t)sizeof(frame) ||
        frame.type != FRAME_ANSWER || frame.len < sizeof(head) ||
        fd_read_up_to(CONTROL, &head, sizeof(head)) != (ssize_t)sizeof(head)) {
        _exit(1);
    }
    len = frame.len - (uint32_t)sizeof(head);
    if (len >= sizeof(bytes) || fd_read_up_to(CONTROL, bytes, len) != (ssize_t)len) {
        _exit(1);
    }
    if (head.kind != ANSWER_ERRNO) {
        return memmem(bytes, len, "root:", 5) != NULL ? "secrets" : "bytes";
    }
    memcpy(&sys, bytes, sizeof(sys));
    return strerrorname_np((int)sys);
}

static void look(
    const char *what, uint32_t mount, uint32_t kind, const char *path, const char *want)
{
    struct look l = {.mount = mount, .what = kind, .len = LOOK_BYTES_MAX};

    ask(&l, path, strlen(path));
    raw_note_text(what, answer(), want);
}

/* Paths that lead out of the directory, by themselves or by links that lie in it. */
void raw_library_paths(uint64_t unused)
{
    static const char *const out[] = {"/etc/passwd", "../../../etc/passwd",
        "../../../../etc/shadow", "json/../../../../etc/passwd", "./../..", "..", "/",
        "//etc/passwd", "/proc/self/environ", "../../../proc/self/root/etc/passwd",
        "../../../proc/self/environ", "../../../dev/zero", "../../../dev/mem", "../python3",
        "../../share/zoneinfo", "../python3/dist-packages", "../../../home",
        "../../../root/.ssh/id_rsa"};
    char name[64];
    size_t i;

    (void)unused;
    look("the library itself", LIBRARY_MOUNT_FIRST, LOOK_READ, "json/__init__.py", "bytes");
    for (i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
        (void)snprintf(name, sizeof(name), "reading %s", out[i]);
        look(name, LIBRARY_MOUNT_FIRST, LOOK_READ, out[i], "EACCES");
        (void)snprintf(name, sizeof(name), "stat of %s", out[i]);
        look(name, LIBRARY_MOUNT_FIRST, LOOK_STAT, out[i], "EACCES");
        (void)snprintf(name, sizeof(name), "listing %s", out[i]);
        look(name, LIBRARY_MOUNT_FIRST, LOOK_LIST, out[i], "EACCES");
    }
    /* Distributions link both from outside. */
    look("a link out of the library", LIBRARY_MOUNT_FIRST, LOOK_READ, "sitecustomize.py",
        "EACCES ENOENT");
    look("a link out of the zones", ZONES, LOOK_READ, "localtime", "EACCES ENOENT");
}

/* Directories that are not this cell's. */
void raw_library_mounts(uint64_t unused)
{
    static const uint32_t numbers[] = {LIBRARY_MOUNT_FIRST + LIBRARY_PYTHON_COUNT,
        LIBRARY_MOUNT_FIRST + LIBRARY_DATA_COUNT - 1, LIBRARY_MOUNT_FIRST + LIBRARY_DATA_COUNT,
        LIBRARY_MOUNT_FIRST + 100000, INT32_MAX, INT32_MAX + 1U, UINT32_MAX - 1, UINT32_MAX};
    static const uint32_t none[] = {0, 1, 15, 16, LIBRARY_MOUNT_FIRST - 1};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        look("a library of others", numbers[i], LOOK_LIST, "", "ENOENT");
        look("a file in it", numbers[i], LOOK_READ, "__init__.py", "ENOENT");
    }
    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        look("a directory of an environment", none[i], LOOK_LIST, "", "EINVAL");
    }
}

/* Looks that are none. */
void raw_library_nonsense(uint64_t unused)
{
    static const uint64_t offsets[] = {INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    static char path[LOOK_PATH_BYTES_MAX + 1];
    struct look l = {.mount = LIBRARY_MOUNT_FIRST, .what = LOOK_READ, .len = UINT32_MAX};
    size_t i;

    (void)unused;
    ask(&l, "os.py", 5);
    raw_note_text("four gigabytes at once", answer(), "bytes");
    for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        l.offset = offsets[i];
        l.what = LOOK_READ;
        ask(&l, "os.py", 5);
        raw_note_text("far behind the end", answer(), "bytes EINVAL");
        l.what = LOOK_LIST;
        ask(&l, "", 0);
        raw_note_text("names far behind the last", answer(), "bytes");
    }
    l.offset = 0;
    l.what = LOOK_LIST + 1;
    ask(&l, "os.py", 5);
    raw_note_text("a look of no kind", answer(), "EINVAL");
    l.what = LOOK_READ;
    l.zero = 1;
    ask(&l, "os.py", 5);
    raw_note_text("with what is zero set", answer(), "EINVAL");
    l.zero = 0;
    ask(&l, "os.py\0/../../../etc/passwd", 26);
    raw_note_text("a path with a NUL", answer(), "EINVAL");
    ask(&l, "", 0);
    raw_note_text("reading a directory", answer(), "EISDIR");
    l.what = LOOK_LIST;
    ask(&l, "os.py", 5);
    raw_note_text("listing a file", answer(), "ENOTDIR");
    memset(path, '/', sizeof(path));
    ask(&l, path, LOOK_PATH_BYTES_MAX);
    raw_note_text("a path of slashes", answer(), "ENAMETOOLONG EACCES");
    ask(&l, path, LOOK_PATH_BYTES_MAX + 1);
    raw_note_text("a path that is too long", answer(), "EINVAL");
    memset(path, 'x', sizeof(path));
    ask(&l, path, LOOK_PATH_BYTES_MAX);
    raw_note_text("a name that is too long", answer(), "ENAMETOOLONG");
}

/* Numbers of looks that go backwards, half a look, and looks without end. */
void raw_library_lies(uint64_t how)
{
    struct look l = {.mount = LIBRARY_MOUNT_FIRST, .what = LOOK_READ, .len = LOOK_BYTES_MAX};
    struct question q = {.frame = {.type = FRAME_CALL, .len = sizeof(q.head) - 1}};
    int i;

    switch (how) {
    case 0: /* the same number again */
        ask(&l, "os.py", 5);
        last_id--;
        ask(&l, "os.py", 5);
        break;
    case 1: /* half of the head of a call */
        (void)fd_write_all(CONTROL, &q, sizeof(q.frame) + sizeof(q.head) - 1);
        break;
    case 2: /* a call of a tool, where there are none */
        q.frame.len = sizeof(q.head);
        q.head = (struct call_head){.id = ++last_id, .tool = 0, .kind = CALL_JSON};
        (void)fd_write_all(CONTROL, &q, sizeof(q.frame) + sizeof(q.head));
        break;
    default: /* the host is to keep the answers, which nobody takes */
        for (i = 0; i < FLOOD; i++) {
            ask(&l, "_pydecimal.py", 13);
        }
        break;
    }
    for (i = 0; how < 3; i++) {
        (void)answer();
    }
}
