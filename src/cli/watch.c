/* watch.c - see watch.h. */
#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/cli.h"

static void (*stop_it)(void *user); /* for the signal handlers */
static void *stop_user;
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t status_shown;
static volatile sig_atomic_t seconds;

static void on_interrupt(int number)
{
    (void)number;
    if (interrupted++ > 0) {
        _exit(EXIT_CANCELLED); /* asked twice: at once; the kernel ends the cells with us */
    }
    if (stop_it != NULL) {
        stop_it(stop_user);
    }
}

static void say(const char *bytes, size_t len)
{
    (void)!write(2, bytes, len); /* short counts handled */
}

/* Once a second on a terminal: that it still runs. Only what may be called in a handler. */
static void on_second(int number)
{
    char line[] = "\r\033[Kvial: running for      s (Ctrl-C stops it)";
    int n = (int)++seconds;
    size_t at = 25; /* the last of the spaces but one */

    (void)number;
    do {
        line[at--] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0 && at > 20);
    say(line, sizeof(line) - 1);
    status_shown = 1;
    if (interrupted && stop_it != NULL) { /* the first time may have been a moment too early */
        stop_it(stop_user);
    }
}

void watch_clear_status(void)
{
    if (status_shown) {
        say("\r\033[K", 4);
        status_shown = 0;
    }
}

static int output_errno; /* why the guest's output could not be passed on; 0: it could */

void watch_output(int stream, const char *bytes, size_t len, void *user)
{
    ssize_t n;

    (void)user;
    watch_clear_status();
    while (len > 0) {
        n = write(stream, bytes, len); /* short counts handled */
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            output_errno = errno; /* a full disk, say; the run goes on, and its end will tell */
            return;               /* a closed pipe ends us with SIGPIPE */
        }
        bytes += n;
        len -= (size_t)n;
    }
}

void watch_begin(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    struct sigaction second = {.sa_handler = on_second, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};

    (void)sigaction(SIGINT, &interrupt, NULL);
    (void)sigaction(SIGTERM, &interrupt, NULL);
    seconds = 0;
    if (isatty(2)) {
        (void)sigaction(SIGALRM, &second, NULL);
        (void)setitimer(ITIMER_REAL, &every, NULL);
    }
}

void watch_end(void)
{
    struct itimerval never = {.it_value = {.tv_sec = 0}};

    (void)setitimer(ITIMER_REAL, &never, NULL);
    watch_clear_status();
}

void watch_stops(void (*stop)(void *user), void *user)
{
    stop_it = NULL;
    stop_user = user;
    stop_it = stop;
    if (stop != NULL && interrupted) { /* it came before there was something to stop */
        stop(user);
    }
}

int watch_interrupted(void)
{
    return interrupted != 0;
}

void watch_forget_interrupt(void)
{
    interrupted = 0;
}

int watch_output_errno(void)
{
    return output_errno;
}
