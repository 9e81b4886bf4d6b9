/* faults.c - every system call that sets up the wall is made to fail in turn, and is in turn the
 * moment at which the process that makes it is killed: the host, a template or a cell.
 *
 * For each the run is refused in words, or goes on with a lower level that is reported; what the
 * report claims is there when one looks at the cells from outside; the next run works; and nothing
 * is left: no process, no descriptor, no control group, no mount. A host that is killed has no cell
 * alive a second later. The last line is "N passed, N failed, N skipped". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "inject.h"
#include "jail/layer.h"
#include "suite.h"
#include "wall.h"

enum {
    ERRNOS_MAX = 6,
    SETTLE_MS = 1000,
    RECOVERY_MS = 40000, /* until the engine serves again: it gives a template 20 s to answer */
    GROUPS_MS = 2000,
    QUICK = 3,  /* with little time so many calls of a kind at most */
    DENSE = 12, /* so many calls of a kind fail one after the other; of the rest some */
    RUN_MS = 5000,
};

/* When faults happen. */
enum moment {
    AT_START,   /* the engine starts, its first cells are made, a program runs */
    AT_RESTART, /* the template of an engine is killed, and the next one starts */
    MOMENTS
};

static const char *const MOMENT_NAMES[] = {"at the start", "in the second template"};

/* What of a row is done when there is little time. */
enum { SOON = 1, SOON_AGAIN = 2, SOON_KILL = 4 };

/* A call, what the kernel may say to it, and the layer that a raw case looks at afterwards. */
struct row {
    const char *name;
    int nr;
    int errnos[ERRNOS_MAX];
    const char *proof;
    unsigned soon; /* it fails at the start, in the second template, is the last call */
};

static const struct row ROWS[] = {
    {"clone3", SYS_clone3, {EPERM, ENOSPC, ENOMEM, EAGAIN, ENOSYS}, NULL, SOON | SOON_KILL},
    {"execve", SYS_execve, {ENOMEM, EACCES}, NULL, 0},
    {"mount", SYS_mount, {EPERM, ENOMEM, ENOSPC}, "private-root", SOON | SOON_AGAIN | SOON_KILL},
    {"umount2", SYS_umount2, {EPERM, EINVAL}, "private-root", SOON},
    {"pivot_root", SYS_pivot_root, {EPERM, EINVAL}, "private-root", SOON | SOON_AGAIN},
    {"chdir", SYS_chdir, {EACCES, ENOMEM}, "private-root", SOON},
    {"mkdir", SYS_mkdir, {EPERM, ENOSPC, ENOMEM}, "private-root", SOON},
    {"mkdirat", SYS_mkdirat, {EPERM, ENOSPC, ENOMEM}, NULL, SOON},
    {"chmod", SYS_chmod, {EPERM, ENOMEM}, "private-root", 0},
    {"symlink", SYS_symlink, {EPERM, ENOSPC}, "private-root", 0},
    {"setgroups", SYS_setgroups, {EPERM, ENOMEM}, NULL, SOON},
    {"setresuid", SYS_setresuid, {EPERM, EAGAIN}, NULL, SOON},
    {"setresgid", SYS_setresgid, {EPERM, EINVAL}, NULL, SOON},
    {"capset", SYS_capset, {EPERM}, NULL, SOON},
    {"prctl", SYS_prctl, {EPERM, EINVAL, ENOSYS}, NULL, SOON},
    {"seccomp", SYS_seccomp, {EPERM, EINVAL, ENOMEM, ENOSYS}, "seccomp",
        SOON | SOON_AGAIN | SOON_KILL},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset, {ENOSYS, EOPNOTSUPP, EMFILE},
        "landlock", SOON | SOON_AGAIN},
    {"landlock_restrict_self", SYS_landlock_restrict_self, {EPERM, ENOMEM}, "landlock", SOON},
    {"prlimit64", SYS_prlimit64, {EPERM, EINVAL}, "rlimits", SOON},
    {"setrlimit", SYS_setrlimit, {EPERM, EINVAL}, "rlimits", SOON},
    {"close_range", SYS_close_range, {ENOSYS, ENOMEM, EPERM}, NULL, SOON},
    {"dup2", SYS_dup2, {EMFILE, EBADF}, NULL, SOON},
    {"fcntl", SYS_fcntl, {EMFILE, EPERM}, NULL, 0},
    {"socketpair", SYS_socketpair, {EMFILE, ENFILE, ENOMEM}, NULL, SOON_KILL},
    {"sendmsg", SYS_sendmsg, {ENOBUFS, EINTR, EPERM, ENOMEM}, NULL, SOON_KILL},
    {"recvmsg", SYS_recvmsg, {EINTR, ENOMEM, EMFILE}, NULL, SOON_KILL},
    {"pidfd_open", SYS_pidfd_open, {EMFILE, ENOSYS, ENOMEM}, NULL, 0},
    {"eventfd2", SYS_eventfd2, {EMFILE, ENOMEM}, NULL, 0},
    {"sethostname", SYS_sethostname, {EPERM, EINVAL}, NULL, 0},
    {"unshare", SYS_unshare, {EPERM, ENOMEM}, NULL, 0},
    {"setsid", SYS_setsid, {EPERM}, NULL, 0},
    {"getrandom", SYS_getrandom, {EINTR, ENOSYS}, NULL, 0},
    {"openat", SYS_openat, {EMFILE, ENFILE, EACCES, EINTR, ENOMEM}, NULL, 0},
    {"readlink", SYS_readlink, {EACCES, ENOMEM}, NULL, 0},
    {"access", SYS_access, {EACCES, ENOMEM}, "private-root", 0},
    {"write", SYS_write, {ENOSPC, EIO, EINTR, EPERM}, NULL, 0},
    {"read", SYS_read, {EIO, EINTR, ENOMEM}, NULL, 0},
    {"sendto", SYS_sendto, {EINTR, ENOBUFS, EPERM}, NULL, 0},
    {"recvfrom", SYS_recvfrom, {EINTR, ENOMEM}, NULL, 0},
    {"mmap", SYS_mmap, {ENOMEM, EPERM}, NULL, 0},
    {"mprotect", SYS_mprotect, {ENOMEM, EACCES}, NULL, 0},
    {"ppoll", SYS_ppoll, {EINTR, ENOMEM}, NULL, 0},
    {"poll", SYS_poll, {EINTR, ENOMEM}, NULL, 0},
};
enum { ROWS_COUNT = sizeof(ROWS) / sizeof(ROWS[0]) };

/* What the program under test is given. */
struct trial {
    struct suite *s;
    const struct row *row;
    enum moment moment;
    const struct wall *sound; /* NULL: this trial is the measure */
    struct wall *measured;    /* in memory that is shared; or NULL */
};

struct options {
    const char *only; /* a call, or NULL */
    int all;          /* every call of a kind with every errno, and not only some */
    int quick;        /* only what of the rows is for that, and the first few calls */
    int verbose;
};

/* ---- in the program under test: a host ---- */

static int count_entries(const char *path)
{
    struct dirent *entry;
    DIR *dir = opendir(path);
    int n = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n++;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

static int count_mounts(void)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    int n = 0, c;

    while (f != NULL && (c = fgetc(f)) != EOF) {
        n += c == '\n';
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return n;
}

/* The case that looks at a layer from inside of a cell; NULL when there is none here. */
static const struct attack *case_for(const struct suite *s, const char *layer)
{
#ifdef VIAL_MUTATION
    uint32_t here = strcmp(s->level, "full") == 0       ? AT_FULL
                    : strcmp(s->level, "rootless") == 0 ? AT_ROOTLESS
                                                        : AT_FILTERED;
    unsigned i;

    for (i = 0; layer != NULL && i < s->raw_count; i++) {
        const struct attack *a = &s->attacks[i];

        if (a->without == NULL && a->origin == 0 && !a->python && a->wall_ms == 0 &&
            (a->levels & here) != 0 && attacks_list_has(a->sees, layer)) {
            return a;
        }
    }
#else
    (void)s;
    (void)layer;
#endif
    return NULL;
}

static int has_layer(const struct vial_engine *engine, const char *name)
{
    unsigned i;

    for (i = 0; name != NULL && i < LAYER_COUNT; i++) {
        if (strcmp(layer_name(i), name) == 0) {
            return engine->report.entries[i].state == LAYER_ON ||
                   engine->report.entries[i].state == LAYER_PROVEN;
        }
    }
    return 0;
}

/* The cells of the engine are what the report says, from outside and from inside. */
static int is_sound(const struct trial *t, char *why, size_t size)
{
    const struct attack *a =
        has_layer(t->s->engine, t->row->proof) ? case_for(t->s, t->row->proof) : NULL;
    unsigned count = 0;

    if (!wall_holds(t->s->engine, t->sound, t->measured, &count, why, size)) {
        return 0;
    }
    if (a != NULL && runs_attack(t->s, a, why, size) != 1) {
        char text[WHY_BYTES];

        (void)snprintf(text, sizeof(text), "%s", why);
        (void)snprintf(why, size, "%s: %.300s", a->id, text);
        return 0;
    }
    return 1;
}

/* One program, whose end may be anything but an answer that is wrong. */
static int run_once(struct vial_engine *engine, char *why, size_t size)
{
    struct vial_result *result = runs_source(engine, "6 * 7", RUN_MS, why, size);
    const char *value = result != NULL ? vial_result_value(result, NULL) : NULL;
    int good = 1;

    if (result == NULL) {
        return why[0] != '\0';
    }
    if (vial_result_status(result) == VIAL_STATUS_OK) {
        good = value != NULL && strcmp(value, "42") == 0;
        (void)snprintf(why, size, "the value is %.100s", value != NULL ? value : "nothing");
    }
    vial_result_free(result);
    return good;
}

/* With the fault behind us: the engine serves again. */
static int recovers(struct vial_engine *engine, char *why, size_t size)
{
    uint64_t until = clock_now_us() + RECOVERY_MS * 1000ULL;

    while (!runs_benign(engine, 0, why, size)) {
        if (clock_now_us() > until) {
            return 0;
        }
        (void)usleep(10 * 1000);
    }
    return 1;
}

/* Nothing is left of an engine that was freed. */
static int is_clean(const struct cgroup_base *groups, int fds, int mounts, char *why, size_t size)
{
    uint64_t until = clock_now_us() + GROUPS_MS * 1000ULL;
    unsigned c;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        while (
            groups->controllers[c].dir_fd >= 0 && access(groups->controllers[c].path, F_OK) == 0) {
            if (clock_now_us() > until) {
                (void)snprintf(why, size, "%s is left", groups->controllers[c].path);
                return 0;
            }
            (void)usleep(1000);
        }
    }
    while (leftovers_descendants() != 0) {
        if (clock_now_us() > until) {
            (void)snprintf(why, size, "%d processes are left", leftovers_descendants());
            return 0;
        }
        (void)usleep(1000);
    }
    if (count_entries("/proc/self/fd") != fds) {
        (void)snprintf(why, size, "%d descriptors are left", count_entries("/proc/self/fd") - fds);
        return 0;
    }
    if (count_mounts() != mounts) {
        (void)snprintf(why, size, "%d mounts are left", count_mounts() - mounts);
        return 0;
    }
    return 1;
}

/* The part with faults; the engine, when there is one, is in t->s->engine. 1, or 0 with the reason.
 */
static int try_all(struct inject_shared *shared, struct trial *t, char *why, size_t size)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;

    inject_arm(shared, t->moment == AT_START);
    t->s->engine = runs_engine(t->s, NULL, 1, why, size);
    inject_arm(shared, 0);
    if (t->s->engine == NULL) {
        return strlen(why) > sizeof("the engine does not start: ") ? 1 : 0;
    }
    shared->has_engine = 1;
    (void)snprintf(shared->level, sizeof(shared->level), "%s", vial_engine_level(t->s->engine));
    if (!is_sound(t, why, size)) {
        return 0;
    }
    inject_arm(shared, 1);
    if (t->moment == AT_RESTART) {
        vial_engine_stats(t->s->engine, &stats);
        (void)kill(stats.template_pid, SIGKILL);
    }
    if (!run_once(t->s->engine, why, size)) {
        return 0;
    }
    vial_engine_settle(t->s->engine, SETTLE_MS);
    inject_arm(shared, 0);
    return recovers(t->s->engine, why, size) && is_sound(t, why, size);
}

static void host_program(struct inject_shared *shared, void *user)
{
    struct trial *t = user;
    struct cgroup_base groups;
    int fds, mounts;
    unsigned c;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        groups.controllers[c].dir_fd = -1;
    }
    fds = count_entries("/proc/self/fd");
    mounts = count_mounts();
    shared->good = try_all(shared, t, shared->why, sizeof(shared->why));
    if (t->s->engine != NULL) {
        groups = t->s->engine->cgroups;
        vial_engine_free(t->s->engine);
    }
    if (shared->good) {
        shared->good = is_clean(&groups, fds, mounts, shared->why, sizeof(shared->why));
    }
}

/* ---- outside ---- */

/* How the faults of one row went. */
struct tally {
    unsigned faults, refused, lower, killed, failed;
    unsigned gone_ms_max;
};

/* What came of one fault. 1 when it is as it should be, else 0, having said why not. */
static int judge(const struct trial *t, const struct fault *f, const struct inject_shared *shared,
    const struct inject_outcome *o, struct tally *tally)
{
    const char *why = NULL;
    char text[WHY_MAX];

    tally->faults++;
    tally->killed += (unsigned)o->killed_host;
    tally->gone_ms_max = o->gone_ms > tally->gone_ms_max ? o->gone_ms : tally->gone_ms_max;
    if (o->hung) {
        why = "the host hangs";
    } else if (o->left > 0) {
        (void)snprintf(text, sizeof(text), "%d processes outlive the host", o->left);
        why = text;
    } else if (o->killed_host) {
        return 1;
    } else if (WIFSIGNALED(o->status)) {
        (void)snprintf(
            text, sizeof(text), "the host dies of SIG%s", sigabbrev_np(WTERMSIG(o->status)));
        why = text;
    } else if (!shared->good) {
        why = shared->why;
    }
    if (why == NULL) {
        tally->refused += shared->has_engine ? 0 : 1;
        tally->lower += shared->has_engine && strcmp(shared->level, t->s->level) != 0;
        return 1;
    }
    tally->failed++;
    (void)printf("FAILED %s number %u %s, %s %s: %s\n", f->name, f->n,
        f->sys != 0 ? "fails" : "is the last",
        f->sys != 0 ? strerrorname_np(f->sys) : "of its process", MOMENT_NAMES[t->moment], why);
    return 0;
}

/* Of many calls of a kind the later ones are looked at with growing steps. */
static unsigned next_n(const struct options *o, unsigned n)
{
    return o->quick ? 2 * n : o->all || n < DENSE ? n + 1 : n + n / 2;
}

/* One call with every number until there are no more; kill: its process ends there. */
static void run_row(struct suite *s, const struct options *o, struct trial *t, int kill_it,
    struct inject_shared *shared)
{
    struct tally tally = {.faults = 0};
    struct fault f = {.name = t->row->name, .nr = t->row->nr, .n = 1};
    struct inject_outcome outcome = {.hit = 1};
    unsigned errnos = 0, e, i;

    while (errnos < ERRNOS_MAX && t->row->errnos[errnos] != 0) {
        errnos++;
    }
    for (i = 0; outcome.hit && !(o->quick && i == QUICK); i++, f.n = next_n(o, f.n)) {
        /* In turn, or every one of them. */
        for (e = 0; e < (o->all && !kill_it ? errnos : 1) && outcome.hit; e++) {
            f.sys = kill_it ? 0 : t->row->errnos[(i + e) % errnos];
            if (inject_run(&f, host_program, t, shared, &outcome) < 0) {
                (void)printf("FAILED %s: the kernel did not let us listen\n", f.name);
                s->failed++;
                return;
            }
            if (outcome.hit) {
                (void)judge(t, &f, shared, &outcome, &tally);
                if (o->verbose) {
                    (void)printf("  %s %u %s: %s%s%s (%u calls)\n", f.name, f.n,
                        f.sys != 0 ? strerrorname_np(f.sys) : "kill",
                        outcome.killed_host ? "killed" : shared->level,
                        shared->has_engine ? "" : " refused: ",
                        shared->has_engine ? "" : shared->why, outcome.calls);
                }
            }
        }
    }
    s->failed += tally.failed > 0;
    s->passed += tally.failed == 0 && tally.faults > 0;
    s->skipped += tally.faults == 0;
    if (tally.faults == 0) {
        (void)printf("skip %s: nobody makes this call here\n", t->row->name);
    } else {
        (void)printf("%s %s %s %s: %u times, %u refused, %u lower, %u hosts killed (%u ms)\n",
            tally.failed > 0 ? "FAILED" : "ok", t->row->name,
            kill_it ? "as the last call" : "fails", MOMENT_NAMES[t->moment], tally.faults,
            tally.refused, tally.lower, tally.killed, tally.gone_ms_max);
    }
}

/* A row at all moments, in both ways. */
static void run_moments(struct suite *s, const struct options *o, const struct row *row,
    const struct wall *sound, struct inject_shared *shared)
{
    struct trial t = {.s = s, .row = row, .sound = sound};
    unsigned bit;
    int moment, kill_it;

    for (moment = 0; moment < MOMENTS; moment++) {
        for (kill_it = 0; kill_it < 2; kill_it++) {
            bit = moment == AT_START ? (kill_it ? SOON_KILL : SOON) : (kill_it ? 0 : SOON_AGAIN);
            if (!o->quick || (row->soon & bit) != 0) {
                t.moment = (enum moment)moment;
                run_row(s, o, &t, kill_it, shared);
                (void)fflush(stdout);
            }
        }
    }
}

/* Groups of hosts that are dead; an engine that starts takes them away. */
static int stale_groups(struct suite *s)
{
    char why[WHY_BYTES], path[CGROUP_PATH_MAX];
    struct dirent *entry;
    int stale = 0, pid;
    unsigned c;
    DIR *dir;

    s->engine = runs_engine(s, NULL, 1, why, sizeof(why));
    for (c = 0; s->engine != NULL && c < CGROUP_CONTROLLERS; c++) {
        if (s->engine->cgroups.controllers[c].dir_fd < 0) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s", s->engine->cgroups.controllers[c].path);
        *strrchr(path, '/') = '\0';
        dir = opendir(path);
        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            stale +=
                sscanf(entry->d_name, "vial.%d.", &pid) == 1 && kill(pid, 0) < 0 && errno == ESRCH;
        }
        if (dir != NULL) {
            (void)closedir(dir);
        }
    }
    vial_engine_free(s->engine);
    s->engine = NULL;
    return stale;
}

static void check_groups(struct suite *s)
{
    uint64_t until = clock_now_us() + GROUPS_MS * 1000ULL;
    int stale;

    while ((stale = stale_groups(s)) > 0 && clock_now_us() < until) {
    }
    s->failed += stale > 0;
    s->passed += stale == 0;
    (void)printf("%s groups of hosts that were killed: %d are left when the next one has started\n",
        stale > 0 ? "FAILED" : "ok", stale);
}

/* A trial in which nothing fails: what a cell looks like then. 0, or -1. */
static int measure(struct suite *s, struct inject_shared *shared, struct wall *ret)
{
    static const struct row nothing = {.name = "nothing", .nr = SYS_reboot, .errnos = {EPERM}};
    struct trial t = {.s = s, .row = &nothing, .measured = ret};
    struct fault f = {.name = "nothing", .nr = SYS_reboot, .n = 1, .sys = EPERM};
    struct inject_outcome o;

    if (inject_run(&f, host_program, &t, shared, &o) < 0) {
        (void)printf("skip faults: this kernel, or who watches over us, gives no listener\n");
        s->skipped++;
        return -1;
    }
    if (!shared->good || strcmp(shared->level, s->level) != 0) {
        (void)printf("FAILED without a fault: level %s, %s\n", shared->level, shared->why);
        s->failed++;
        return -1;
    }
    return 0;
}

static int parse(int argc, char **argv, struct suite *s, struct options *o)
{
    int i;

    for (i = 1; i < argc; i++) {
        const char **text = strcmp(argv[i], "--level") == 0     ? &s->level
                            : strcmp(argv[i], "--cell") == 0    ? &s->cell_path
                            : strcmp(argv[i], "--scripts") == 0 ? &s->scripts_dir
                            : strcmp(argv[i], "--only") == 0    ? &o->only
                                                                : NULL;

        if (text != NULL && i + 1 < argc) {
            *text = argv[++i];
        } else if (strcmp(argv[i], "--all") == 0) {
            o->all = 1;
        } else if (strcmp(argv[i], "--quick") == 0) {
            o->quick = 1;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            o->verbose = 1;
        } else {
            return -1;
        }
    }
    return s->level != NULL && s->cell_path != NULL && s->scripts_dir != NULL ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct suite s = {.shm_id = -1, .listen_fd = -1, .abstract_fd = -1};
    struct options o = {.all = 0};
    struct inject_shared *shared;
    struct wall *sound;
    unsigned row;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* so that nobody who is left can hide */
    if (parse(argc, argv, &s, &o) < 0) {
        (void)fprintf(stderr, "usage: faults --level full|rootless|filtered --cell PROGRAM "
                              "--scripts DIR [--only CALL] [--all | --quick] [--verbose]\n");
        return 2;
    }
    shared = mmap(NULL, sizeof(*shared) + sizeof(*sound), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || attacks_load(&s) < 0 || bait_open(&s) < 0) {
        return 2;
    }
    sound = (struct wall *)(void *)(shared + 1);
    if (measure(&s, shared, sound) == 0) {
        for (row = 0; row < ROWS_COUNT; row++) {
            if (o.only == NULL || strcmp(o.only, ROWS[row].name) == 0) {
                run_moments(&s, &o, &ROWS[row], sound, shared);
            }
        }
        check_groups(&s);
    }
    bait_close(&s);
    free(s.attacks);
    (void)printf("%u passed, %u failed, %u skipped\n", s.passed, s.failed, s.skipped);
    return s.failed == 0 ? 0 : 1;
}
