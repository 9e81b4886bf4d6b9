/* tool_exec.c - see tool_exec.h.
 *
 * One loop feeds the program, takes what it prints and waits for its end, by its process
 * descriptor: the host has other children, and never waits for "any". The program is reaped last:
 * as long as it is not, its number cannot be given to another process group, so killing the group
 * by that number is safe. */
#include "host/tool_exec.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/sigpipe.h"
#include "base/trace.h"
#include "jail/fork.h"

enum {
    TICK_MS = 20, /* how soon a cancelled call ends */
    CHUNK_BYTES = 16 * 1024,
    /* Read from a pipe once the program has ended: what a pipe holds. Somebody who escaped may
     * still be filling it. */
    DRAIN_BYTES_MAX = 1024 * 1024,
    MESSAGE_LINE_BYTES_MAX = 300, /* of stderr in the message; the rest is in the fields */
};

/* How a call ended. */
enum end {
    END_NOT = 0,
    END_EXITED,
    END_DEADLINE,
    END_CANCELLED,
    END_LARGE,  /* too much output */
    END_MEMORY, /* of ours */
};

struct call {
    const char *args;
    size_t len;
    size_t written;
    struct buf *answer;
    size_t answer_bytes_max;
    struct buf text; /* the end of what it said to stderr */
    pid_t pid;
    int pidfd;
    int in; /* our ends of its pipes, -1 once closed */
    int out;
    int errors;
    int large;
    int no_memory;
};

/* ---- starting ---- */

static int is_above_2(int *fd)
{
    int low = *fd;

    if (low > 2) {
        return 1;
    }
    *fd = fcntl(low, F_DUPFD_CLOEXEC, 3);
    (void)close(low);
    return *fd >= 0;
}

/* A pipe whose ends are above 2, which a host that closed its own may not get at first; our end,
 * fds[ours], does not block. */
static int pipe_new(int fds[2], int ours)
{
    if (pipe2(fds, O_CLOEXEC) < 0) {
        fds[0] = fds[1] = -1;
        return -1;
    }
    if (!is_above_2(&fds[0]) || !is_above_2(&fds[1]) || fcntl(fds[ours], F_SETFL, O_NONBLOCK) < 0) {
        fd_closep(&fds[0]);
        fd_closep(&fds[1]);
        return -1;
    }
    return 0;
}

static int has_variable(const struct tool_exec *tool, const char *name)
{
    size_t len = strlen(name);
    size_t i;

    for (i = 0; i < tool->env_count; i++) {
        if (strncmp(tool->env[i], name, len) == 0 && tool->env[i][len] == '=') {
            return 1;
        }
    }
    return 0;
}

/* Does this errno of starting a program tell of the program, and not of the host? */
static int is_of_program(int sys)
{
    return sys == ENOENT || sys == EACCES || sys == EPERM || sys == ENOTDIR || sys == ENOEXEC ||
           sys == ELOOP || sys == ENAMETOOLONG || sys == ETXTBSY || sys == EISDIR ||
           sys == ELIBBAD || sys == EINVAL;
}

/* Starts the program with these descriptors; 0, or an errno. */
static int spawn(const struct tool_exec *tool, const int fds[3], pid_t *ret)
{
    const char *argv[TOOL_EXEC_WORDS_MAX + 1];
    const char *envp[TOOL_EXEC_WORDS_MAX + 4];
    char trace[sizeof("TRACEPARENT=") + TRACE_BYTES];
    char path[PATH_MAX];
    int cwd_fd = -1;
    size_t n = tool->env_count;
    int sys;

    assert(tool->command_count <= TOOL_EXEC_WORDS_MAX && n <= TOOL_EXEC_WORDS_MAX);
    sys = tool_exec_find(tool, path, sizeof(path));
    if (sys != 0) {
        return sys;
    }
    memcpy(argv, tool->command, tool->command_count * sizeof(argv[0]));
    argv[tool->command_count] = NULL;
    if (n > 0) {
        memcpy(envp, tool->env, n * sizeof(envp[0]));
    }
    if (!has_variable(tool, "PATH")) {
        envp[n++] = "PATH=" TOOL_EXEC_PATH;
    }
    if (!has_variable(tool, "LANG")) {
        envp[n++] = "LANG=" TOOL_EXEC_LANG;
    }
    if (tool->traceparent != NULL && !has_variable(tool, "TRACEPARENT")) {
        (void)snprintf(trace, sizeof(trace), "TRACEPARENT=%s", tool->traceparent);
        envp[n++] = trace;
    }
    envp[n] = NULL;
    if (tool->cwd != NULL) {
        cwd_fd = open(tool->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (cwd_fd < 0) {
            return errno;
        }
    }
    sys = fork_spawn_tool(path, argv, envp, cwd_fd, fds, ret);
    fd_closep(&cwd_fd);
    return sys;
}

/* Its number may be anybody's now, so nothing can be sent to its group any more. */
static int fail_reaped(struct vial_error *err)
{
    return vial__fail_sys(err, ECHILD,
        "the program of a tool was reaped by somebody else, who waits for any child or ignores "
        "SIGCHLD");
}

/* A child that cannot be watched is not kept. */
static int watch(struct call *c, struct vial_error *err)
{
    int sys;

    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pidfd >= 0) {
        return VIAL_OK;
    }
    sys = errno;
    if (sys == ESRCH) {
        return fail_reaped(err);
    }
    (void)kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return vial__fail_sys(err, sys, "watching the program of a tool");
}

static int start(struct call *c, const struct tool_exec *tool, struct tool_failure *failure,
    struct vial_error *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};
    int sys = 0;

    if (pipe_new(in, 1) < 0 || pipe_new(out, 0) < 0 || pipe_new(errors, 0) < 0) {
        sys = errno;
    }
    c->in = in[1];
    c->out = out[0];
    c->errors = errors[0];
    if (sys == 0) {
        const int fds[3] = {in[0], out[1], errors[1]};

        sys = spawn(tool, fds, &c->pid);
    }
    fd_closep(&in[0]);
    fd_closep(&out[1]);
    fd_closep(&errors[1]);
    if (sys == 0) {
        return watch(c, err);
    }
    if (is_of_program(sys)) {
        tool_failure_detail(failure, "\"%s\" in \"%s\": %s", tool->command[0],
            tool->cwd != NULL ? tool->cwd : ".", strerrordesc_np(sys));
        return tool_failure_set(failure, TOOL_ERROR_EXEC,
            "the program of the tool cannot be started (%s)", strerrorname_np(sys));
    }
    return vial__fail_sys(err, sys, "starting the program of a tool");
}

/* ---- while it runs ---- */

/* A program need not read what it is given: then the rest is not for anybody. */
static void feed(struct call *c)
{
    ssize_t n = 0;

    if (c->written < c->len) {
        n = write(c->in, c->args + c->written, c->len - c->written); /* short counts handled */
    }
    if (n > 0) {
        c->written += (size_t)n;
    }
    if (c->written == c->len || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        fd_closep(&c->in);
    }
}

/* One piece of output; how many bytes that was. */
static size_t take_answer(struct call *c)
{
    size_t max = c->answer_bytes_max < c->answer->max ? c->answer_bytes_max : c->answer->max;
    char bytes[CHUNK_BYTES];
    size_t room;
    ssize_t n;

    n = read(c->out, bytes, sizeof(bytes)); /* short counts handled */
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (n <= 0) {
        fd_closep(&c->out);
        return 0;
    }
    room = max - c->answer->len;
    c->large |= (size_t)n > room;
    if (buf_add(c->answer, bytes, (size_t)n < room ? (size_t)n : room, NULL) < 0) {
        c->no_memory = 1;
    }
    return (size_t)n;
}

/* The same for stderr, of which the end is kept: that is where programs say what went wrong. */
static size_t take_text(struct call *c)
{
    char bytes[TOOL_EXCERPT_BYTES_MAX];
    ssize_t n;

    n = read(c->errors, bytes, sizeof(bytes)); /* short counts handled */
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (n <= 0) {
        fd_closep(&c->errors);
        return 0;
    }
    if (c->text.len + (size_t)n > c->text.max) {
        buf_consume(&c->text, c->text.len + (size_t)n - c->text.max);
    }
    if (buf_add(&c->text, bytes, (size_t)n, NULL) < 0) {
        c->no_memory = 1;
    }
    return (size_t)n;
}

/* Is it over whatever the program does? */
static enum end look(uint64_t now, uint64_t deadline_us, const int *cancelled)
{
    if (cancelled != NULL && __atomic_load_n(cancelled, __ATOMIC_ACQUIRE) != 0) {
        return END_CANCELLED;
    }
    return now >= deadline_us ? END_DEADLINE : END_NOT;
}

static enum end run(struct call *c, uint64_t deadline_us, const int *cancelled)
{
    struct pollfd fds[4];
    uint64_t now, wait_ms;
    enum end end;

    for (;;) {
        now = clock_now_us();
        end = look(now, deadline_us, cancelled);
        if (end != END_NOT) {
            return end;
        }
        wait_ms = (deadline_us - now + 999) / 1000;
        fds[0] = (struct pollfd){.fd = c->pidfd, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = c->in, .events = POLLOUT};
        fds[2] = (struct pollfd){.fd = c->out, .events = POLLIN};
        fds[3] = (struct pollfd){.fd = c->errors, .events = POLLIN};
        if (poll(fds, 4, wait_ms < TICK_MS ? (int)wait_ms : TICK_MS) <= 0) {
            continue;
        }
        if (fds[0].revents != 0) { /* the rest of its output is taken when its group is dead */
            return END_EXITED;
        }
        if (fds[1].revents != 0) {
            feed(c);
        }
        if (fds[2].revents != 0) {
            (void)take_answer(c);
        }
        if (fds[3].revents != 0) {
            (void)take_text(c);
        }
        if (c->large || c->no_memory) {
            return c->large ? END_LARGE : END_MEMORY;
        }
    }
}

/* ---- the end ---- */

/* Takes what the pipes still hold. */
static void drain(struct call *c)
{
    size_t total = 0;
    size_t n = 1;

    while (c->out >= 0 && n > 0 && !c->large && !c->no_memory) {
        n = take_answer(c); /* bounded by what an answer may have */
    }
    for (n = 1; c->errors >= 0 && n > 0 && total < DRAIN_BYTES_MAX; total += n) {
        n = take_text(c);
    }
}

/* Kills what is left of the group, and then reaps the program; *ret tells how it ended. A program
 * that the kernel cannot end yet, in the middle of a broken disk, is waited for. */
static int reap(struct call *c, siginfo_t *ret, struct vial_error *err)
{
    int r;

    (void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
    do {
        r = waitid(P_PIDFD, (id_t)c->pidfd, ret, WEXITED | WNOWAIT);
    } while (r < 0 && errno == EINTR);
    if (r < 0) {
        return errno == ECHILD ? fail_reaped(err)
                               : vial__fail_sys(err, errno, "waiting for the program of a tool");
    }
    (void)kill(-c->pid, SIGKILL);
    drain(c);
    do {
        r = waitid(P_PIDFD, (id_t)c->pidfd, ret, WEXITED);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? vial__fail_sys(err, errno, "waiting for the program of a tool") : VIAL_OK;
}

static void name_signal(int number, char *name, size_t size)
{
    const char *abbreviation = sigabbrev_np(number);

    if (abbreviation != NULL) {
        (void)snprintf(name, size, "SIG%s", abbreviation);
    } else { /* one of the real-time signals */
        (void)snprintf(name, size, "signal %d", number);
    }
}

/* {"exit_code": 2, "stderr": "..."}; what an exit does not tell is not in it. */
static int put_fields(const struct call *c, const siginfo_t *info, int with_exit,
    struct tool_failure *failure, struct vial_error *err)
{
    struct json_writer w;
    char name[32];

    if (!with_exit && c->text.len == 0) {
        return VIAL_OK;
    }
    json_init(&w, &failure->fields, err);
    json_begin_object(&w);
    if (with_exit) {
        json_key(&w, "exit_code");
        if (info->si_code == CLD_EXITED) {
            json_i64(&w, info->si_status);
        } else {
            json_write_null(&w);
            json_key(&w, "signal");
            name_signal(info->si_status, name, sizeof(name));
            json_text(&w, name);
        }
    }
    json_key(&w, "stderr");
    json_write_string(&w, c->text.len > 0 ? c->text.data : "", c->text.len);
    json_end_object(&w);
    return json_finish(&w);
}

/* The last line of stderr that has something in it, for the message. */
static const char *last_line(const struct call *c, int *ret_len)
{
    size_t end = c->text.len;
    size_t begin;

    while (end > 0 && strchr(" \t\r\n", c->text.data[end - 1]) != NULL) {
        end--;
    }
    for (begin = end; begin > 0 && c->text.data[begin - 1] != '\n'; begin--) {
    }
    *ret_len = (int)tool_excerpt_len(c->text.data + begin, end - begin, MESSAGE_LINE_BYTES_MAX);
    return c->text.data + begin;
}

static int fail_exit(const struct call *c, const siginfo_t *info, struct tool_failure *failure)
{
    const char *line = "";
    char how[64];
    int len = 0;

    if (c->text.len > 0) {
        line = last_line(c, &len);
    }
    if (info->si_code == CLD_EXITED) {
        (void)snprintf(how, sizeof(how), "exit code %d", info->si_status);
    } else {
        name_signal(info->si_status, how, sizeof(how));
    }
    return tool_failure_set(failure, TOOL_ERROR_EXEC, "the program of the tool ended with %s%s%.*s",
        how, len > 0 ? ": " : "", len, line);
}

static int is_blank(const struct buf *b)
{
    return b->len == 0 || strspn(b->data, " \t\r\n") == b->len;
}

static int conclude(struct call *c, enum end end, const siginfo_t *info,
    struct tool_failure *failure, struct vial_error *err)
{
    int bad = end == END_EXITED && (info->si_code != CLD_EXITED || info->si_status != 0);
    int r;

    if (end == END_MEMORY || c->no_memory) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the answer of a tool");
    }
    r = put_fields(c, info, bad, failure, err);
    if (r < 0) {
        return r;
    }
    if (end == END_DEADLINE) {
        return tool_failure_set(
            failure, TOOL_ERROR_TIMEOUT, "the program of the tool did not end in time");
    }
    if (end == END_CANCELLED) {
        return tool_failure_set(failure, TOOL_ERROR_ABORT, "the call of the tool was cancelled");
    }
    if (bad) {
        return fail_exit(c, info, failure);
    }
    if (c->large) {
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the answer of the tool is larger than the %zu bytes it may have",
            c->answer_bytes_max < c->answer->max ? c->answer_bytes_max : c->answer->max);
    }
    if (is_blank(c->answer)) {
        return tool_failure_set(failure, TOOL_ERROR_ANSWER,
            "the program of the tool printed nothing; without anything to say it has to print "
            "null");
    }
    r = tool_answer_check(c->answer, failure);
    if (r == 0) {
        buf_clear(&failure->fields);
    }
    return r;
}

int tool_exec_call(const struct tool_exec *tool, const char *args, size_t len, uint64_t deadline_us,
    size_t answer_bytes_max, const int *cancelled, struct buf *answer, struct tool_failure *failure,
    struct vial_error *err)
{
    struct call c = {.args = args,
        .len = len,
        .answer = answer,
        .answer_bytes_max = answer_bytes_max,
        .pidfd = -1,
        .in = -1,
        .out = -1,
        .errors = -1};
    siginfo_t info = {0};
    struct sigpipe held;
    enum end end;
    int r;

    buf_clear(answer);
    tool_failure_clear(failure);
    buf_init(&c.text, TOOL_EXCERPT_BYTES_MAX);
    end = look(clock_now_us(), deadline_us, cancelled);
    if (end != END_NOT) {
        return conclude(&c, end, &info, failure, err);
    }
    sigpipe_hold(&held); /* a program may end without having read */
    r = start(&c, tool, failure, err);
    if (r == 0) {
        end = run(&c, deadline_us, cancelled);
        r = reap(&c, &info, err);
        if (r == 0) {
            r = conclude(&c, end, &info, failure, err);
        }
    }
    sigpipe_release(&held);
    fd_closep(&c.in);
    fd_closep(&c.out);
    fd_closep(&c.errors);
    fd_closep(&c.pidfd);
    buf_release(&c.text);
    if (r != 0) {
        buf_clear(answer);
    }
    return r;
}
