/* confine.c - see confine.h. */
#include "jail/confine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/caps.h"
#include "jail/cgroup.h"
#include "jail/filter.h"
#include "jail/fork.h"
#include "jail/landlock.h"
#include "jail/mutate.h"
#include "jail/rlimits.h"
#include "jail/root.h"

enum {
    CONTROL_FD = 3,              /* the only descriptor of a cell beside 0, 1 and 2 */
    FAMILY_PROCESSES_MAX = 4096, /* of one user; each is made with the host's consent */
    NOBODY = 65534, /* who cells are where no user namespace gives them a user of their own */
    PROBE_FDS_MAX =
        256 /* descriptors the canary looks at; the kernel gives out the lowest free number */
};

/* Made once by the template, used by every cell. */
static int ruleset_fd = -1;
static int user_zero_is_plain; /* user 0 here is a plain user outside */

static void note(struct layer_report *report, unsigned layer, int holds, int sys)
{
    struct layer_entry *e = &report->entries[layer];

    e->state = holds ? LAYER_PROVEN : LAYER_BROKEN;
    e->sys = (uint16_t)(holds ? sys : 0);
}

/* ---- template ---- */

static void prove_private_root(struct layer_report *report)
{
    static const char *const paths[] = {"/etc/passwd", "/proc/self", "/usr", "/dev/null", "/sys"};
    size_t i;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (access(paths[i], F_OK) == 0 || errno != ENOENT) {
            note(report, LAYER_PRIVATE_ROOT, 0, 0);
            return;
        }
    }
    note(report, LAYER_PRIVATE_ROOT, mkdir("/x", 0700) < 0 && errno == EROFS, ENOENT);
}

/* An unconnected network: even the way to oneself is down. */
static void prove_netns(struct layer_report *report)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int r;

    if (fd < 0) {
        return; /* no IPv4 in this kernel; the comparison of names stands */
    }
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r = connect(fd, (struct sockaddr *)&to, sizeof(to));
    note(report, LAYER_NETNS, r < 0, errno);
    (void)close(fd);
}

static int template_root(struct layer_report *report, const char **ret_step)
{
    struct layer_entry *e = &report->entries[LAYER_PRIVATE_ROOT];
    int undone;

    if (e->state == LAYER_OFF) {
        return 0;
    }
    if (root_enter(&undone) < 0) {
        *e = (struct layer_entry){.state = LAYER_OFF, .sys = (uint16_t)errno};
        *ret_step = "private root";
        return undone ? 0 : -1;
    }
    prove_private_root(report);
    return 0;
}

static int template_privileges(struct layer_report *report, const char **ret_step)
{
    *ret_step = "capability sources";
    if (!mutate_without(LAYER_CAPABILITIES) && caps_close_sources() < 0) {
        return -1;
    }
    *ret_step = "no new privileges";
    if (!mutate_without(LAYER_NO_NEW_PRIVS)) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
            return -1;
        }
        note(report, LAYER_NO_NEW_PRIVS, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, 0);
    }
    return 0;
}

static void template_landlock(struct layer_report *report)
{
    struct layer_entry *e = &report->entries[LAYER_LANDLOCK];
    int abi = landlock_abi();

    if (mutate_without(LAYER_LANDLOCK)) {
        return;
    }
    ruleset_fd = landlock_ruleset();
    if (ruleset_fd < 0) {
        *e = (struct layer_entry){.state = LAYER_OFF, .sys = (uint16_t)errno};
        return;
    }
    *e = (struct layer_entry){.state = LAYER_ON, .version = (uint8_t)abi};
}

static const struct sock_fprog *template_filter(void)
{
#ifdef VIAL_MUTATION
    if (mutate_without_part("shared-memory")) {
        return &filter_template_shares;
    }
    if (mutate_without_part("clone-flags")) {
        return &filter_template_any_clone;
    }
#endif
    return &filter_template;
}

int confine_template(const struct namespace_names *before, uint32_t users,
    struct layer_report *report, const char **ret_step)
{
    memset(report, 0, sizeof(*report));
    (void)umask(077);
    if (users > 0) {
        namespace_compare(before, report);
        *ret_step = "user namespace";
        if (namespace_settle(users > 1) < 0) {
            return -1;
        }
        report->entries[LAYER_PRIVATE_UID].state = users > 1 ? LAYER_ON : LAYER_OFF;
        if (template_root(report, ret_step) < 0) {
            return -1;
        }
        if (report->entries[LAYER_NETNS].state != LAYER_OFF) {
            prove_netns(report);
        }
    } else {
        report->entries[LAYER_USERNS].sys = EPERM;
        user_zero_is_plain = namespace_zero_is_plain();
    }
    if (template_privileges(report, ret_step) < 0) {
        return -1;
    }
    template_landlock(report);
    *ret_step = "template filter";
    if (!mutate_without(LAYER_SECCOMP)) {
        if (filter_load(template_filter()) < 0) {
            return -1;
        }
        report->entries[LAYER_SECCOMP].state = LAYER_ON;
    }
    report->entries[LAYER_DESCRIPTORS].state = LAYER_ON;
    report->entries[LAYER_CAPABILITIES].state =
        mutate_without(LAYER_CAPABILITIES) ? LAYER_OFF : LAYER_ON;
    report->entries[LAYER_RLIMITS].state = mutate_without(LAYER_RLIMITS) ? LAYER_OFF : LAYER_ON;
    return 0;
}

/* ---- cell ---- */

/* First of all, so that everything the cell does is on its own account. */
static int do_cgroups(const struct confine_cell_input *in)
{
    unsigned i;
    ssize_t n;

    for (i = 0; i < in->cgroup_fds_count; i++) {
        n = write(in->cgroup_fds[i], "0", 1); /* short counts handled */
        if (n != 1) {
            return -1;
        }
    }
    return 0;
}

/* The group has room for one process, and that is us. */
static void prove_cgroups(const struct confine_cell_input *in, struct layer_report *proof)
{
    int pidfd = -1;
    pid_t pid;

    if ((in->spec->groups & 1U << CGROUP_PIDS) == 0) {
        return;
    }
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        _exit(0);
    }
    note(proof, LAYER_CGROUP_PIDS, pid < 0 && errno == EAGAIN, errno);
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
}

static int do_descriptors(const struct confine_cell_input *in)
{
    if (in->control_fd != CONTROL_FD && dup2(in->control_fd, CONTROL_FD) < 0) {
        return -1;
    }
    /* The ruleset is needed for two more steps; it moves right behind the control socket. */
    if (ruleset_fd >= 0) {
        if (ruleset_fd != CONTROL_FD + 1 && dup2(ruleset_fd, CONTROL_FD + 1) < 0) {
            return -1;
        }
        ruleset_fd = CONTROL_FD + 1;
    }
    if (in->spec->kind == CELL_ORIGIN) {
        if (dup2(in->family_fd, CONFINE_FAMILY_FD) < 0 ||
            syscall(SYS_close_range, CONFINE_FAMILY_FD + 1U, ~0U, 0) < 0) {
            return -1;
        }
        return 0;
    }
    if (mutate_without(LAYER_DESCRIPTORS)) {
        return 0;
    }
    return (int)syscall(SYS_close_range, CONTROL_FD + (ruleset_fd >= 0 ? 2U : 1U), ~0U, 0);
}

static int do_landlock(const struct confine_cell_input *in)
{
    int r;

    (void)in;
    if (ruleset_fd < 0) {
        return 0;
    }
    r = landlock_enter(ruleset_fd);
    (void)close(ruleset_fd);
    return r;
}

static void prove_landlock(const struct confine_cell_input *in, struct layer_report *proof)
{
    int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)in;
    note(proof, LAYER_LANDLOCK, fd < 0 && errno == EACCES, errno);
    proof->entries[LAYER_LANDLOCK].version = in->template_report->entries[LAYER_LANDLOCK].version;
    if (fd >= 0) {
        (void)close(fd);
    }
}

static int do_user(const struct confine_cell_input *in)
{
    if (in->users > 1) {
        return caps_become(in->spec->uid, in->spec->uid);
    }
    /* Without a range a cell of user 0 can only become nobody, and a plain user stays what it is.
     * (The effective user is no call of the template's filter.) */
    if (in->users != 0 || getuid() != 0 || caps_become(NOBODY, NOBODY) == 0) {
        return 0;
    }
    /* A namespace that somebody else made for one plain user has nobody else to become. */
    return errno == EINVAL && user_zero_is_plain ? 0 : -1;
}

static void prove_user(const struct confine_cell_input *in, struct layer_report *proof)
{
    if (in->users > 1) {
        note(proof, LAYER_PRIVATE_UID, getuid() == in->spec->uid && in->spec->uid != 0, 0);
    }
    if (in->template_report->entries[LAYER_PIDNS].state != LAYER_OFF) {
        note(proof, LAYER_PIDNS, getpid() == 1 && getppid() == 0, 0);
    }
}

static int do_capabilities(const struct confine_cell_input *in)
{
    (void)in;
    if (!mutate_without(LAYER_CAPABILITIES) && caps_drop() < 0) {
        return -1;
    }
    /* A change of user clears this, so it is set behind it. With a pid namespace the kernel ends
     * the cell with its template anyway. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static void prove_capabilities(const struct confine_cell_input *in, struct layer_report *proof)
{
    int r = prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0); /* only who has one may give one up */

    note(proof, LAYER_CAPABILITIES, r < 0 && errno == EPERM, errno);
    if (r == 0 || syscall(SYS_setresuid, 0, 0, 0) == 0) {
        /* Becoming user 0 is no gain where user 0 has no capabilities and is who we are. */
        note(proof, LAYER_CAPABILITIES, r < 0 && (in->users == 1 || user_zero_is_plain), EPERM);
    }
}

/* Where all cells are one user, the kernel counts the processes of all of them. */
static uint32_t processes_max(const struct confine_cell_input *in)
{
    int are_one_user = in->users <= 1 && in->spec->threads_max > 0;

    return in->spec->kind == CELL_ORIGIN || are_one_user ? FAMILY_PROCESSES_MAX
                                                         : 1 + in->spec->threads_max;
}

static int do_rlimits(const struct confine_cell_input *in)
{
    return mutate_without(LAYER_RLIMITS)
               ? 0
               : rlimits_apply(in->spec->open_files_max, processes_max(in));
}

static void prove_rlimits(const struct confine_cell_input *in, struct layer_report *proof)
{
    struct rlimit more = {.rlim_cur = 65536, .rlim_max = 65536};
    unsigned opened = 0;
    int fd;

    do {
        fd = dup(0);
        opened += fd >= 0 ? 1 : 0;
    } while (fd >= 0 && opened <= in->spec->open_files_max);
    note(proof, LAYER_RLIMITS, fd < 0 && errno == EMFILE, errno);
    (void)syscall(SYS_close_range, CONTROL_FD + 1U, ~0U, 0);
    if (setrlimit(RLIMIT_NOFILE, &more) == 0) {
        note(proof, LAYER_RLIMITS, 0, 0);
    }
}

static void prove_descriptors(const struct confine_cell_input *in, struct layer_report *proof)
{
    int fd;

    (void)in;
    note(proof, LAYER_DESCRIPTORS, 1, EBADF);
    for (fd = CONTROL_FD + 1; fd < PROBE_FDS_MAX; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            note(proof, LAYER_DESCRIPTORS, 0, 0);
        }
    }
}

static const struct sock_fprog *last_filter(const struct cell_spec *spec)
{
#ifdef VIAL_MUTATION
    if (spec->threads_max > 0 && mutate_without_part("thread-flags")) {
        return &filter_threads_any_clone;
    }
#endif
    return spec->threads_max > 0 ? &filter_threads : &filter_compute;
}

static int do_filter(const struct confine_cell_input *in)
{
    if (mutate_without(LAYER_SECCOMP) || in->spec->kind == CELL_ORIGIN) {
        return 0; /* an origin does it in confine_origin */
    }
    return filter_load(last_filter(in->spec));
}

/* The calls are harmless, exist on every kernel, and would otherwise succeed or say ENOENT. */
static void prove_filter(const struct confine_cell_input *in, struct layer_report *proof)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int holds = fd < 0 && errno == EPERM;

    (void)in;
    holds = holds && syscall(SYS_getppid) < 0 && errno == EPERM;
    holds = holds && open("/there/is/no/such/file", O_RDONLY | O_CLOEXEC) < 0 && errno == EPERM;
    holds = holds && syscall(SYS_unshare, CLONE_NEWUSER) < 0 && errno == EPERM;
    note(proof, LAYER_SECCOMP, holds, EPERM);
}

struct step {
    const char *name;
    int (*apply)(const struct confine_cell_input *in);
    void (*prove)(
        const struct confine_cell_input *in, struct layer_report *proof); /* may be NULL */
    int layer; /* the canary proves nothing when the template says that this one is off; -1: always
                */
};

/* In this order, because: privileges are needed for the user; the last filter takes away the calls
 * that all others need. */
static const struct step STEPS[] = {
    {"control group", do_cgroups, prove_cgroups, -1},
    {"descriptors", do_descriptors, NULL, -1},
    {"user", do_user, prove_user, -1},
    {"capabilities", do_capabilities, prove_capabilities, LAYER_CAPABILITIES},
    {"landlock", do_landlock, prove_landlock, LAYER_LANDLOCK},
    {"rlimits", do_rlimits, prove_rlimits, LAYER_RLIMITS},
    {"descriptors left", NULL, prove_descriptors, -1},
    {"last filter", do_filter, prove_filter, LAYER_SECCOMP},
};

uint64_t confine_cell_flags(uint32_t users)
{
    return users > 0 && !mutate_without(LAYER_PIDNS) ? CLONE_NEWPID : 0;
}

int confine_branch(void)
{
    /* The kernel forgets this with every fork. Without a pid namespace nothing else would end a
     * member whose host is gone. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

int confine_origin(int threads, int *ret_listener)
{
    if (confine_branch() < 0) {
        return -1;
    }
    (void)close(CONFINE_FAMILY_FD);
    *ret_listener = -1;
    return mutate_without(LAYER_SECCOMP) ? 0 : filter_hold_clone(threads, ret_listener);
}

int confine_origin_end(void)
{
    return mutate_without(LAYER_SECCOMP) ? 0 : filter_load(&filter_origin);
}

int confine_init(void)
{
    (void)close(CONTROL_FD);
    return mutate_without(LAYER_SECCOMP) ? 0 : filter_load(&filter_init);
}

int confine_cell(
    const struct confine_cell_input *in, struct layer_report *proof, const char **ret_step)
{
    const struct step *step;
    size_t i;

    if (proof != NULL) {
        *proof = *in->template_report;
    }
    for (i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
        step = &STEPS[i];
        *ret_step = step->name;
        if (step->apply != NULL && step->apply(in) < 0) {
            return -1;
        }
        mutate_after_step(step->name);
        if (proof != NULL && step->prove != NULL &&
            (step->layer < 0 || in->template_report->entries[step->layer].state != LAYER_OFF)) {
            step->prove(in, proof);
        }
    }
    return 0;
}
