/* history_file.c - see history_file.h. */
#include "cli/history_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

/* ---- where ---- */

static const char *home(void)
{
    const char *given = getenv("HOME");
    const struct passwd *entry;

    if (given != NULL && given[0] == '/') {
        return given;
    }
    entry = getpwuid(geteuid()); /* NOLINT(concurrency-mt-unsafe): one thread asks */
    return entry != NULL && entry->pw_dir[0] == '/' ? entry->pw_dir : NULL;
}

/* Makes the directories that the path goes through. */
static int make_parents(char *path)
{
    char *slash;

    for (slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST) {
            *slash = '/';
            return -1;
        }
        *slash = '/';
    }
    return 0;
}

void history_file_init(struct history_file *file)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *directory = home();
    int n = 0;

    if (state != NULL && state[0] == '/') { /* a relative one is to be ignored, XDG says */
        n = snprintf(file->path, sizeof(file->path), "%s/vial/history", state);
    } else if (directory != NULL) {
        n = snprintf(file->path, sizeof(file->path), "%s/.local/state/vial/history", directory);
    }
    if (n <= 0 || (size_t)n >= sizeof(file->path) || make_parents(file->path) < 0) {
        file->path[0] = '\0';
    }
}

/* ---- lines of the file ---- */

/* An entry as a line; -1 without memory. */
static int escape(const char *entry, size_t len, struct buf *out)
{
    size_t i;
    int r = 0;

    for (i = 0; i < len && r == 0; i++) {
        if (entry[i] == '\n' || entry[i] == '\\') {
            r = buf_add(out, entry[i] == '\n' ? "\\n" : "\\\\", 2, NULL);
        } else {
            r = buf_add(out, &entry[i], 1, NULL);
        }
    }
    return r < 0 ? -1 : buf_add(out, "\n", 1, NULL);
}

/* A line as an entry, in place; its length. */
static size_t unescape(char *line, size_t len)
{
    size_t i, n = 0;

    for (i = 0; i < len; i++) {
        if (line[i] == '\\' && i + 1 < len) {
            i++;
            line[n++] = line[i] == 'n' ? '\n' : line[i];
        } else {
            line[n++] = line[i];
        }
    }
    return n;
}

/* Writes what is left of a file that had grown, beside it and then over it, so that a reader sees
 * the old one or the new one. What another program adds at this very moment is lost. */
static void rewrite(const struct history_file *file, const char *bytes, size_t len)
{
    char beside[HISTORY_PATH_BYTES_MAX + 16];
    int fd;

    (void)snprintf(beside, sizeof(beside), "%s.%d", file->path, (int)getpid());
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return;
    }
    if (fd_write_all(fd, bytes, len) < 0 || rename(beside, file->path) < 0) {
        (void)unlink(beside);
    }
    fd_closep(&fd);
}

/* The whole file; NULL when there is none that is ours. */
static char *read_all(const struct history_file *file, size_t *ret_len)
{
    int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *bytes = NULL;
    ssize_t n = -1;

    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size <= HISTORY_FILE_BYTES_MAX) {
        bytes = malloc((size_t)status.st_size + 1);
        n = bytes != NULL ? fd_read_up_to(fd, bytes, (size_t)status.st_size) : -1;
    }
    fd_closep(&fd);
    if (n < 0) {
        free(bytes);
        return NULL;
    }
    *ret_len = (size_t)n;
    return bytes;
}

void history_file_load(const struct history_file *file,
    void (*each)(const char *entry, size_t len, void *user), void *user)
{
    size_t len = 0, count = 0, skip, i;
    char *bytes = file->path[0] != '\0' ? read_all(file, &len) : NULL;
    char *at = bytes, *end;

    if (bytes == NULL) {
        return;
    }
    for (i = 0; i < len; i++) {
        count += bytes[i] == '\n';
    }
    skip = count > HISTORY_ENTRIES_MAX ? count - HISTORY_ENTRIES_MAX : 0;
    for (i = 0; i < count && (skip > i || bytes + len - at > HISTORY_FILE_BYTES_MAX / 4); i++) {
        at = (char *)memchr(at, '\n', (size_t)(bytes + len - at)) + 1;
    }
    if (count > 2 * (size_t)HISTORY_ENTRIES_MAX || len > HISTORY_FILE_BYTES_MAX / 2) {
        rewrite(file, at, (size_t)(bytes + len - at));
    }
    for (; (end = memchr(at, '\n', (size_t)(bytes + len - at))) != NULL; at = end + 1) {
        size_t entry_len = unescape(at, (size_t)(end - at));

        at[entry_len] = '\0'; /* where the line end was, or before */
        each(at, entry_len, user);
    }
    free(bytes);
}

int history_file_add(const struct history_file *file, const char *entry, size_t len)
{
    struct buf line;
    struct stat status;
    int fd, r;

    if (file->path[0] == '\0' || len > HISTORY_ENTRY_BYTES_MAX) {
        return -1;
    }
    fd =
        open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0) {
        return -1;
    }
    buf_init(&line, 2 * (size_t)HISTORY_ENTRY_BYTES_MAX + 1);
    r = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_size <= HISTORY_FILE_BYTES_MAX && fchmod(fd, 0600) == 0
            ? escape(entry, len, &line)
            : -1;
    r = r < 0 ? -1 : fd_write_all(fd, line.data, line.len);
    buf_release(&line);
    fd_closep(&fd);
    return r < 0 ? -1 : 0;
}
