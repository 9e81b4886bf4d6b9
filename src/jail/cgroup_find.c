/* cgroup_find.c - see cgroup_find.h. */
#include "jail/cgroup_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

enum { PROC_TEXT_MAX = 256 * 1024 }; /* a host with thousands of mounts still fits */

/* Is word one of the comma-separated words in the n bytes at list? */
static int has_word(const char *list, size_t n, const char *word)
{
    size_t len = strlen(word);
    size_t i = 0;
    size_t end;

    while (i < n) {
        for (end = i; end < n && list[end] != ','; end++) {
        }
        if (end - i == len && memcmp(list + i, word, len) == 0) {
            return 1;
        }
        i = end + 1;
    }
    return 0;
}

/* The group of this process for a controller (version 1) or in the unified tree (controller NULL).
 */
static int own_group(const char *groups, const char *controller, char *ret, size_t size)
{
    const char *line = groups;
    const char *names, *path, *end;

    while (line != NULL && *line != '\0') {
        end = strchr(line, '\n');
        end = end != NULL ? end : line + strlen(line);
        names = memchr(line, ':', (size_t)(end - line));
        path = names != NULL ? memchr(names + 1, ':', (size_t)(end - names - 1)) : NULL;
        if (path != NULL) {
            size_t names_len = (size_t)(path - names - 1);
            size_t path_len = (size_t)(end - path - 1);
            int match = controller != NULL ? has_word(names + 1, names_len, controller)
                                           : line[0] == '0' && names_len == 0;

            if (match && path_len < size) {
                memcpy(ret, path + 1, path_len);
                ret[path_len] = '\0';
                return 0;
            }
        }
        line = *end == '\n' ? end + 1 : NULL;
    }
    return -1;
}

/* A process that an engine has moved down (cgroup.c) makes its groups beside itself, as before. */
static void step_up(char *group)
{
    static const char HOST[] = "/" CGROUP_HOST_GROUP;
    size_t len = strlen(group);

    if (len >= sizeof(HOST) - 1 && strcmp(group + len - (sizeof(HOST) - 1), HOST) == 0) {
        len -= sizeof(HOST) - 1;
        group[len > 0 ? len : 1] = '\0'; /* the top is "/" */
    }
}

static void add_place(struct cgroup_place *places, unsigned *count, int version, const char *mount,
    size_t mount_len, const char *group)
{
    struct cgroup_place *place = &places[*count];
    int n;

    if (*count == CGROUP_PLACES_MAX) {
        return;
    }
    n = snprintf(place->path, sizeof(place->path), "%.*s%s", (int)mount_len, mount,
        strcmp(group, "/") == 0 ? "" : group);
    if (n > 0 && (size_t)n < sizeof(place->path)) {
        place->version = version;
        (*count)++;
    }
}

/* One line of /proc/self/mounts: device, place, type, options. */
struct mount_line {
    const char *place, *type, *options;
    size_t place_len, type_len, options_len;
};

static int mount_parse(const char *line, struct mount_line *ret)
{
    const char *p = line + strcspn(line, " \n");
    const char **parts[] = {&ret->place, &ret->type, &ret->options};
    size_t *lens[] = {&ret->place_len, &ret->type_len, &ret->options_len};
    size_t i;

    for (i = 0; i < 3; i++) {
        if (*p != ' ') {
            return -1;
        }
        *parts[i] = p + 1;
        *lens[i] = strcspn(p + 1, " \n");
        p = p + 1 + *lens[i];
    }
    return 0;
}

unsigned cgroup_find_in(const char *mounts, const char *groups, const char *controller,
    struct cgroup_place places[CGROUP_PLACES_MAX])
{
    const char *line = mounts;
    struct mount_line m;
    char group[CGROUP_PLACE_BYTES];
    unsigned count = 0;

    while (line != NULL && *line != '\0') {
        if (mount_parse(line, &m) == 0) {
            if (m.type_len == 6 && memcmp(m.type, "cgroup", 6) == 0 &&
                has_word(m.options, m.options_len, controller) &&
                own_group(groups, controller, group, sizeof(group)) == 0) {
                add_place(places, &count, 1, m.place, m.place_len, group);
            } else if (m.type_len == 7 && memcmp(m.type, "cgroup2", 7) == 0 &&
                       own_group(groups, NULL, group, sizeof(group)) == 0) {
                step_up(group);
                add_place(places, &count, 2, m.place, m.place_len, group);
                if (strcmp(group, "/") != 0) {
                    add_place(places, &count, 2, m.place, m.place_len, "/");
                }
            }
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return count;
}

static char *read_proc(const char *path)
{
    char *text = malloc(PROC_TEXT_MAX);

    if (text != NULL && fd_get_text(AT_FDCWD, path, text, PROC_TEXT_MAX) < 0) {
        free(text);
        text = NULL;
    }
    return text;
}

unsigned cgroup_find(const char *controller, struct cgroup_place places[CGROUP_PLACES_MAX])
{
    char *mounts = read_proc("/proc/self/mounts");
    char *groups = read_proc("/proc/self/cgroup");
    unsigned count = 0;

    if (mounts != NULL && groups != NULL) {
        count = cgroup_find_in(mounts, groups, controller, places);
    }
    free(mounts);
    free(groups);
    return count;
}

void cgroup_remove_children(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (e->d_type == DT_DIR && e->d_name[0] != '.') {
            (void)unlinkat(dir_fd, e->d_name, AT_REMOVEDIR);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    } else if (fd >= 0) {
        (void)close(fd);
    }
}
