/* quiet.c - see quiet.h. */
#include "cell/quiet.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

enum {
    QUIET_TRIES_MAX = 200, /* of 500 us each: the helper's longest work takes some milliseconds */
    QUIET_PAUSE_US = 500,
};

/* Does the thread wait on a futex, as a helper without work does? */
static int thread_sleeps(const char *tid)
{
    char path[288], text[128]; /* a name in a directory has up to 255 bytes */
    char waiting[16];

    (void)snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", tid);
    (void)snprintf(waiting, sizeof(waiting), "%d ", SYS_futex);
    return fd_get_text(AT_FDCWD, path, text, sizeof(text)) == 0 &&
           strncmp(text, waiting, strlen(waiting)) == 0;
}

static int all_sleep(void)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *e;
    char self[16];
    int sleeping = 1;

    (void)snprintf(self, sizeof(self), "%d", (int)gettid());
    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (e->d_name[0] != '.' && strcmp(e->d_name, self) != 0 && !thread_sleeps(e->d_name)) {
            sleeping = 0;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return sleeping;
}

void quiet_wait(void)
{
    int i;

    for (i = 0; i < QUIET_TRIES_MAX && !all_sleep(); i++) {
        (void)usleep(QUIET_PAUSE_US);
    }
}
