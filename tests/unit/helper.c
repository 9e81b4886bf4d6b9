/* helper.c - see helper.h. */
#include "helper.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void helper_complain(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "%s:%d: not true in the child: %s (errno %s)\n", file, line, condition,
        strerrorname_np(errno));
    (void)fflush(stderr);
}

int helper_in_child(int (*fn)(void *user), void *user)
{
    int status = 0;
    pid_t pid;

    (void)fflush(stdout);
    (void)fflush(stderr);
    pid = fork();
    if (pid == 0) {
        _exit(fn(user));
    }
    if (pid < 0) {
        perror("fork");
        abort();
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

void helper_say_skip(const char *format, ...)
{
    const char *must = getenv("VIAL_MUST_WORK");
    va_list ap;

    (void)printf("# skipped: ");
    va_start(ap, format);
    (void)vprintf(format, ap);
    va_end(ap);
    (void)printf("\n");
    (void)fflush(stdout);
    if (must != NULL && strcmp(must, "1") == 0) {
        (void)fprintf(stderr, "VIAL_MUST_WORK=1, so this must not be skipped\n");
        abort();
    }
}

struct vial_engine_options helper_options(void)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;

    options.cell_path = getenv("VIAL_CELL");
    options.pool_count = 1;
    options.quick = 1;
    if (options.cell_path == NULL) {
        (void)fprintf(stderr, "VIAL_CELL must name the cell program; `meson test` sets it\n");
        abort();
    }
    return options;
}

struct vial_engine *helper_engine(void)
{
    struct vial_engine_options options = helper_options();
    struct vial_engine *engine = NULL;
    struct vial_error err;

    if (vial_engine_new(&options, &engine, &err) < 0) {
        (void)fprintf(stderr, "vial_engine_new: %s\n", err.text);
        abort();
    }
    return engine;
}

struct vial_result *helper_run(
    struct vial_engine *engine, const char *source, const struct vial_limits *limits)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;

    request.source = source;
    request.source_len = strlen(source);
    request.limits = limits;
    if (vial_run(engine, &request, &result, &err) < 0) {
        (void)fprintf(stderr, "vial_run: %s\n", err.text);
        abort();
    }
    return result;
}

void helper_expect(struct vial_engine *engine, const char *source, const char *value)
{
    struct vial_result *result = helper_run(engine, source, NULL);
    const char *found = vial_result_value(result, NULL);

    if (vial_result_status(result) != VIAL_STATUS_OK || found == NULL ||
        strcmp(found, value) != 0) {
        (void)fprintf(
            stderr, "%s\nis not %s but %s\n", source, value, vial_result_json(result, NULL));
        abort();
    }
    vial_result_free(result);
}

int helper_status(struct vial_engine *engine, const char *source, const struct vial_limits *limits)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    int r;

    request.source = source;
    request.source_len = strlen(source);
    request.limits = limits;
    r = vial_run(engine, &request, &result, NULL);
    r = r < 0 ? r : vial_result_status(result);
    vial_result_free(result);
    return r;
}

unsigned helper_fds_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    if (dir == NULL) {
        perror("/proc/self/fd");
        abort();
    }
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count - 3; /* ".", ".." and the directory itself */
}

int helper_has_no_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD;
}

int helper_wait_gone(pid_t pid, unsigned ms)
{
    unsigned waited;

    for (waited = 0; waited < ms; waited += 5) {
        if (kill(pid, 0) < 0 && errno == ESRCH) {
            return 1;
        }
        helper_sleep_ms(5);
    }
    return 0;
}

void helper_sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&t, &t) < 0 && errno == EINTR) {
    }
}
