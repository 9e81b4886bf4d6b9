/* raw_layers.c - attacks in the middle of the confinement, each on one layer while those above it
 * are not there yet, or are switched off, and cannot refuse in its place. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "raw.h"

enum {
    FDS = 1024,
    CAPS = 41,           /* up to CAP_CHECKPOINT_RESTORE */
    OPEN_FILES_MAX = 32, /* the default of a run */
};

/* User 0 inside asks for what only user 0 outside may do, and harms nobody when it gets it. */
void raw_layer_userns(uint64_t unused)
{
    (void)unused;
    RAW(setpriority, "EACCES EPERM", PRIO_PROCESS, 0, -1);
    RAW(swapoff, "EPERM", "");
}

void raw_layer_private_uid(uint64_t unused)
{
    (void)unused;
    raw_note_yes("the cell is not user 0", getuid() != 0);
}

void raw_layer_private_root(uint64_t unused)
{
    static const char *const paths[] = {
        "/etc/passwd", "/proc/self", "/usr", "/dev/null", "/sys", "/tmp"};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        raw_note(paths[i], access(paths[i], F_OK), "ENOENT");
    }
    raw_note("making a directory", mkdir("/x", 0700), "EROFS EACCES");
}

void raw_layer_pidns(uint64_t unused)
{
    (void)unused;
    raw_note_yes("the cell is process 1", getpid() == 1);
    raw_note_yes("it has no parent", syscall(SYS_getppid) == 0);
}

/* Without the filter: who can be signalled? */
void raw_layer_pidns_kill(uint64_t host_pid)
{
    raw_note("asking for the host's process", kill((pid_t)host_pid, 0), "ESRCH");
    raw_note("asking for everybody", kill(-1, 0), "ESRCH");
    raw_note("a descriptor for the host's process", syscall(SYS_pidfd_open, (pid_t)host_pid, 0),
        "ESRCH EINVAL");
}

void raw_layer_netns(uint64_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    raw_note("socket", fd, "ok");
    raw_note("connect to the host", connect(fd, (struct sockaddr *)&to, sizeof(to)), "ENETUNREACH");
    (void)close(fd);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    raw_note("a datagram to the host",
        sendto(fd, "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to)), "ENETUNREACH");
    (void)close(fd);
}

/* An abstract name belongs to a network namespace; behind that, Landlock keeps it. */
void raw_abstract_socket(uint64_t host_pid)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "vial-attack-%d", (int)host_pid);

    raw_note("socket", fd, "ok");
    raw_note("connect to the host's abstract socket",
        connect(fd, (struct sockaddr *)&to, (socklen_t)(sizeof(to.sun_family) + 1 + (size_t)n)),
        "ECONNREFUSED EPERM");
    (void)close(fd);
}

void raw_layer_ipcns(uint64_t key)
{
    raw_note("the host's shared memory", shmget((key_t)key, 0, 0), "ENOENT");
}

void raw_layer_utsns(uint64_t unused)
{
    struct utsname names;

    (void)unused;
    raw_note("uname", uname(&names), "ok");
    raw_note_text("the name of the machine", names.nodename, "vial");
}

/* Is the path, behind the second colon of a line, one that tells nothing: our own group, one beside
 * it, or one that the engine made below? */
static int group_is_hidden(const char *line)
{
    const char *path = strstr(line, ":/");

    return path != NULL && (path[2] == '\n' || path[2] == '\0' || strncmp(path, ":/../", 5) == 0 ||
                               strncmp(path, ":/vial.", 7) == 0);
}

/* Without the private root /proc tells what groups this is in: as seen from the outside, or from
 * inside. Where the engine has groups, the template lies in one of the memory controller, and so
 * must seem the top. */
void raw_layer_cgroupns(uint64_t has_groups)
{
    char text[4096];
    int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    const char *line = text;
    int shown = 0;

    raw_note("reading the groups", n > 0 ? 0 : -1, "ok");
    text[n > 0 ? n : 0] = '\0';
    while (line != NULL && *line != '\0') {
        shown += !group_is_hidden(line);
        line = strchr(line, '\n');
        line += line != NULL ? 1 : 0;
    }
    raw_note_yes("no path of the host", shown == 0);
    if (has_groups) {
        raw_note_yes("the template is the top", strstr(text, ":/../") != NULL);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

void raw_layer_descriptors(uint64_t unused)
{
    int beyond = 0;
    int fd;

    (void)unused;
    for (fd = 4; fd < FDS; fd++) {
        beyond += fcntl(fd, F_GETFD) >= 0;
    }
    raw_note_yes("nothing is open above the control socket", beyond == 0);
}

void raw_layer_no_new_privs(uint64_t unused)
{
    (void)unused;
    raw_note_yes("no new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
}

static int no_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{0}};

    return syscall(SYS_capget, &header, sets) == 0 && sets[0].effective == 0 &&
           sets[0].permitted == 0 && sets[0].inheritable == 0 && sets[1].effective == 0 &&
           sets[1].permitted == 0 && sets[1].inheritable == 0;
}

void raw_layer_capabilities(uint64_t unused)
{
    int bounding = 0;
    int cap;

    (void)unused;
    for (cap = 0; cap < CAPS; cap++) {
        bounding += prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
    }
    raw_note_yes("the three sets are empty", no_capabilities());
    raw_note_yes("none can come back by exec", bounding == 0);
    raw_note_yes("nobody may look inside", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
    raw_note("mounting", mount("x", "/", "tmpfs", MS_NOEXEC, "size=4096"), "EPERM");
}

/* At the lowest level a plain user has never had a bounding set to give up. */
void raw_layer_capabilities_plain(uint64_t unused)
{
    (void)unused;
    raw_note_yes("the three sets are empty", no_capabilities());
    raw_note_yes("nobody may look inside", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
    raw_note("mounting", mount("x", "/", "tmpfs", MS_NOEXEC, "size=4096"), "EPERM");
}

void raw_layer_become_root(uint64_t unused)
{
    (void)unused;
    RAW(setresuid, "EPERM", 0, 0, 0);
    RAW(setresgid, "EPERM", 0, 0, 0);
}

void raw_layer_landlock(uint64_t unused)
{
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)unused;
    raw_note("listing the top", fd, "EACCES");
    raw_note("mounting", mount("x", "/", "tmpfs", MS_NOEXEC, "size=4096"), "EPERM");
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Without namespaces Landlock alone stands before the host's files and processes. */
void raw_layer_landlock_host(uint64_t host_pid)
{
    static const char *const paths[] = {"/etc/passwd", "/proc/self/environ", "/dev/null", "/"};
    size_t i;
    int fd;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        raw_note(paths[i], fd, "EACCES");
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    raw_note("writing", fd, "EACCES");
    if (fd >= 0) {
        (void)close(fd);
    }
    raw_note("a signal to the host", kill((pid_t)host_pid, 0), "EPERM");
}

void raw_layer_landlock_port(uint64_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    raw_note("connect to the host", connect(fd, (struct sockaddr *)&to, sizeof(to)), "EACCES");
    (void)close(fd);
}

void raw_layer_rlimits(uint64_t unused)
{
    struct rlimit more = {.rlim_cur = 65536, .rlim_max = 65536};
    struct rlimit core = {.rlim_cur = 1};
    unsigned opened = 0;
    int fd;

    (void)unused;
    do {
        fd = dup(0);
        opened += fd >= 0 ? 1 : 0;
    } while (fd >= 0 && opened <= OPEN_FILES_MAX);
    raw_note("descriptors without end", fd, "EMFILE");
    (void)syscall(SYS_close_range, 4U, ~0U, 0);
    raw_note("raising the limit", setrlimit(RLIMIT_NOFILE, &more), "EPERM");
    raw_note("the limit of cores", getrlimit(RLIMIT_CORE, &core), "ok");
    raw_note_yes("is zero", core.rlim_cur == 0 && core.rlim_max == 0);
}

static long fork_once(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    int status;

    if (pid == 0) {
        _exit(0);
    }
    if (pid > 0) {
        (void)syscall(SYS_wait4, pid, &status, __WALL, NULL);
    }
    return pid;
}

void raw_layer_fork(uint64_t unused)
{
    (void)unused;
    raw_note("forking", fork_once(), "EAGAIN");
}

void raw_layer_nested_userns(uint64_t unused)
{
    (void)unused;
    RAW(unshare, "ENOSPC EPERM", CLONE_NEWUSER);
}

void raw_layer_seccomp(uint64_t unused)
{
    (void)unused;
    RAW(socket, "EPERM", AF_UNIX, SOCK_DGRAM, 0);
    RAW(getppid, "EPERM", 0);
    RAW(uname, "EPERM", RAW_NOWHERE);
    RAW(unshare, "EPERM", CLONE_NEWUSER);
    RAW(open, "EPERM", "/there/is/no/such/file", O_RDONLY, 0);
    RAW(personality, "EPERM", 0xffffffffUL);
}

/* Where things lie in memory, for the harness to compare between templates. */
void raw_layout(uint64_t unused)
{
    char text[64];
    int here = 0;

    (void)unused;
    (void)snprintf(text, sizeof(text), "%p", (void *)&here);
    raw_note_text("stack", text, text);
    (void)snprintf(text, sizeof(text), "%lx", (unsigned long)(uintptr_t)raw_layout);
    raw_note_text("code", text, text);
    (void)snprintf(text, sizeof(text), "%lx", (unsigned long)(uintptr_t)printf);
    raw_note_text("library", text, text);
}
