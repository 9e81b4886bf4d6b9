/* serve.c - `vial serve`: the server as a program, with signals and the service manager. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/cli.h"
#include "cli/secret_source.h"
#include "cli/serve_config.h"
#include "http/log.h"
#include "http/server.h"

enum {
    FLAGS_MAX = 64,
    FIRST_FD = 3,
    OLD_MAX = 16,
    WATCHDOG_US_MIN = 1000,
    WATCHDOG_US_MAX = 1000 * 1000 * 1000,
};

struct watchdog {
    struct loop_source source; /* first */
    int fd;
};

struct serving {
    struct loop_source source; /* first: signals */
    struct watchdog watchdog;
    struct server *server;
    struct serve_config *config;
    const char *config_path;
    struct serve_flag flags[FLAGS_MAX];
    size_t flags_count;
    int signal_fd;
    int check_only, print_only;
    struct serve_config
        *old[OLD_MAX]; /* settings that were read before: something may point to them */
    size_t old_count;
};

/* ---- the service manager ---- */

/* Tells it something, when there is one. */
static void notify(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    int fd;

    if (len < 2 || len >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@')) {
        return;
    }
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') {
        address.sun_path[0] = '\0';
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
        (void)close(fd);
    }
}

/* The sockets that it has opened for us; how many. */
static size_t inherited(int fds[LISTEN_MAX])
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t pid_number = 0, n = 0;
    size_t i;

    if (pid == NULL || count == NULL || cli_number(pid, &pid_number) < 0 ||
        cli_number(count, &n) < 0 || pid_number != (uint64_t)getpid() || n > LISTEN_MAX) {
        return 0;
    }
    for (i = 0; i < n; i++) {
        fds[i] = FIRST_FD + (int)i;
        (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(fds[i], F_SETFL, fcntl(fds[i], F_GETFL) | O_NONBLOCK);
    }
    return (size_t)n;
}

/* Tells it twice in the time in which it wants to hear from us that the loop still turns: a loop
 * that hangs says nothing. */
static void on_watchdog(struct loop_source *source, uint32_t events)
{
    const struct watchdog *w = (const struct watchdog *)source;
    uint64_t count;

    (void)events;
    if (fd_read_up_to(w->fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
        notify("WATCHDOG=1");
    }
}

/* When it wants to: 0, or an exit code. */
static int open_watchdog(struct serving *s)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    struct itimerspec every = {.it_value = {.tv_sec = 0}};
    uint64_t us = 0, pid_number = 0;

    if (usec == NULL || cli_number(usec, &us) < 0 || us < WATCHDOG_US_MIN || us > WATCHDOG_US_MAX ||
        (pid != NULL && (cli_number(pid, &pid_number) < 0 || pid_number != (uint64_t)getpid()))) {
        return 0;
    }
    us /= 2;
    every.it_interval.tv_sec = (time_t)(us / 1000000);
    every.it_interval.tv_nsec = (long)(us % 1000000) * 1000;
    every.it_value = every.it_interval;
    s->watchdog.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    s->watchdog.source.ready = on_watchdog;
    if (s->watchdog.fd < 0 || timerfd_settime(s->watchdog.fd, 0, &every, NULL) < 0 ||
        server_watch(s->server, s->watchdog.fd, &s->watchdog.source) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "no timer for the watchdog of the service manager");
    }
    return 0;
}

/* ---- signals ---- */

/* The first settings are pointed to as long as the server lives; of later ones nothing is, a few
 * reloads later. */
static void keep_old(struct serving *s)
{
    size_t i;

    if (s->old_count == OLD_MAX) {
        serve_config_release(s->old[1]);
        free(s->old[1]);
        for (i = 2; i < s->old_count; i++) {
            s->old[i - 1] = s->old[i];
        }
        s->old_count--;
    }
    s->old[s->old_count++] = s->config;
}

static void reload(struct serving *s)
{
    struct serve_config *next = calloc(1, sizeof(*next));
    const char *fixed = NULL;
    struct vial_error err;

    if (next == NULL || serve_config_read(next, s->config_path, s->flags, s->flags_count) != 0) {
        log_say(LOG_ERROR, "the configuration was not read anew; all stays as it was", NULL);
        free(next);
        return;
    }
    if (server_reload(s->server, &next->options, &fixed, &err) < 0) {
        log_say(LOG_ERROR, "the configuration was not read anew; all stays as it was", "error",
            err.text, NULL);
        serve_config_release(next);
        free(next);
        return;
    }
    keep_old(s);
    s->config = next;
    log_say(LOG_INFO, "the configuration was read anew", NULL);
    if (fixed != NULL) {
        log_say(LOG_WARN, "a setting takes effect only when the server is started", "setting",
            fixed, NULL);
    }
}

static void on_signal(struct loop_source *source, uint32_t events)
{
    struct serving *s = (struct serving *)source;
    struct signalfd_siginfo info;

    (void)events;
    while (fd_read_up_to(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP) {
            notify("RELOADING=1");
            reload(s);
            notify("READY=1");
        } else {
            notify("STOPPING=1");
            server_stop(s->server);
        }
    }
}

static int open_signals(struct serving *s)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    s->source.ready = on_signal;
    return s->signal_fd < 0 ? cli_fail(EXIT_OUR_FAILURE, "no descriptor for signals") : 0;
}

/* As many descriptors as may be: each connection is one, and each cell several. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- the command ---- */

static int serve(struct serving *s)
{
    struct secret_source secrets = {.data_dir = s->config->options.data_dir};
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    char key_path[SECRET_PATH_BYTES_MAX];
    struct secret_options secret_options = {.directory = s->config->options.data_dir};
    struct server_start start = {.options = &s->config->options};
    struct vial_error err;
    int fds[LISTEN_MAX];
    int code = open_signals(s);

    code = code != 0 ? code : secret_source_key(NULL, key_path, &secret_options);
    if (code != 0) {
        return code;
    }
    secret_options.directory = s->config->options.data_dir;
    log_setup((enum log_level)s->config->options.log_level, -1);
    raise_descriptors();
    secret_source_offer(&secrets, &eo);
    start.on_secret = eo.on_secret;
    start.secret_user = eo.secret_user;
    start.secret_options = &secret_options;
    start.fds_count = inherited(fds);
    start.fds = fds;
    if (server_new(&start, &s->server, &err) < 0 ||
        server_watch(s->server, s->signal_fd, &s->source) < 0) {
        return cli_fail(
            err.code == VIAL_E_INVALID ? EXIT_CONFIG : EXIT_UNAVAILABLE, "%s", err.text);
    }
    code = open_watchdog(s);
    if (code != 0) {
        return code;
    }
    log_say(LOG_INFO, "ready", "version", vial_version(), NULL);
    notify("READY=1");
    server_serve(s->server);
    log_say(LOG_INFO, "stopped", NULL);
    server_free(s->server);
    secret_source_close(&secrets);
    return EXIT_FINE;
}

static void print_help(void)
{
    (void)printf(
        "usage: vial serve [OPTION]...\n\n"
        "Serves the HTTP API (docs/server.md, docs/api.md). Settings come from flags, then "
        "the\n"
        "environment (VIAL_SERVE_QUEUE_MAX and so on), then the file and its .d "
        "directory.\n\n"
        "  --config FILE                   read this and FILE.d/*.conf "
        "(/etc/vial/vial.conf)\n"
        "  --check-config                  only check the settings\n"
        "  --print-config                  print the settings and where each came "
        "from\n\n");
    serve_config_help();
    (void)printf("\nSIGTERM stops, SIGHUP reads the configuration anew.\n");
}

static int take_option(struct serving *s, struct cli_args *a)
{
    int is_plain = 0, code;
    const char *key;

    if (strcmp(a->option, "--check-config") == 0) {
        s->check_only = 1;
        return cli_args_plain(a, "serve");
    }
    if (strcmp(a->option, "--print-config") == 0) {
        s->print_only = 1;
        return cli_args_plain(a, "serve");
    }
    if (strcmp(a->option, "--config") == 0) {
        s->config_path = cli_args_value(a, "serve");
        return s->config_path != NULL ? 0 : EXIT_USAGE;
    }
    key = serve_config_key(a->option, &is_plain);
    if (key == NULL) {
        return cli_unknown_option("serve", a->option, serve_config_flags());
    }
    if (s->flags_count == FLAGS_MAX) {
        return cli_fail(EXIT_USAGE, "too many options");
    }
    s->flags[s->flags_count].key = key;
    if (is_plain && a->word == NULL) {
        s->flags[s->flags_count++].value = "yes";
        return 0;
    }
    code = (s->flags[s->flags_count].value = cli_args_value(a, "serve")) != NULL ? 0 : EXIT_USAGE;
    s->flags_count++;
    return code;
}

static int parse(struct serving *s, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            return cli_fail(EXIT_USAGE, "vial serve takes no \"%s\"", a.word);
        }
        if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return -1;
        }
        code = take_option(s, &a);
    }
    return code;
}

int cmd_serve(int argc, char **argv)
{
    struct serving *s = calloc(1, sizeof(*s));
    int code;

    if (s == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "out of memory");
    }
    code = parse(s, argc, argv);
    s->config_path = s->config_path != NULL ? s->config_path : getenv("VIAL_CONFIG");
    s->config = calloc(1, sizeof(*s->config));
    if (code == 0 && s->config != NULL) {
        code = serve_config_read(s->config, s->config_path, s->flags, s->flags_count);
        if (code == 0 && s->print_only) {
            serve_config_print(s->config);
        } else if (code == 0 && !s->check_only) {
            code = serve(s);
        }
        serve_config_release(s->config);
    }
    while (s->old_count > 0) {
        s->old_count--;
        serve_config_release(s->old[s->old_count]);
        free(s->old[s->old_count]);
    }
    free(s->config);
    free(s);
    return code < 0 ? EXIT_FINE : code;
}
