/* files_host.c - see files.h: who and where a program is, which says nothing about the host. The
 * answers are those that JavaScript gets (docs/files.md). They are given to the template as well:
 * modules ask once and remember. Only the numbers of users are the true ones there, for those who
 * confine cells ask, too. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    MEMORY_BYTES = 512 * 1024 * 1024, /* that the machine is said to have; half of it is free */
    PAGE_BYTES = 4096,
};

/* ---- the machine ---- */

#ifdef __aarch64__
#define MACHINE "aarch64"
#else
#define MACHINE "x86_64"
#endif

FILES_API int uname(struct utsname *ret)
{
    *ret = (struct utsname){.sysname = "Linux",
        .nodename = "vial",
        .release = "6.1.0",
        .version = "#1 SMP",
        .machine = MACHINE};
    return 0;
}

FILES_API int gethostname(char *name, size_t size)
{
    if (size < sizeof("vial")) {
        return (int)files_answer(-ENAMETOOLONG);
    }
    memcpy(name, "vial", sizeof("vial"));
    return 0;
}

FILES_API long sysconf(int name)
{
    switch (name) {
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return 1;
    case _SC_PHYS_PAGES:
        return MEMORY_BYTES / PAGE_BYTES;
    case _SC_AVPHYS_PAGES:
        return MEMORY_BYTES / PAGE_BYTES / 2;
    case _SC_OPEN_MAX:
        return files_are_on ? (long)files_fs->limits.open_max : FILES_REAL(sysconf)(name);
    default:
        return FILES_REAL(sysconf)(name);
    }
}
FILES_ALSO(sysconf, __sysconf);

FILES_API int getloadavg(double load[], int count)
{
    int i;

    count = count < 3 ? count : 3;
    for (i = 0; i < count; i++) {
        load[i] = 0;
    }
    return count;
}

FILES_API int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (size == 0) {
        return (int)files_answer(-EINVAL);
    }
    memset(set, 0, size);
    CPU_SET_S(0, size, set);
    return 0;
}

/* ---- the user ---- */

#define ONE_ID(type, name)                                                                         \
    FILES_API type name(void)                                                                      \
    {                                                                                              \
        return files_are_on ? FILES_USER : FILES_REAL(name)();                                     \
    }

ONE_ID(uid_t, getuid)
ONE_ID(uid_t, geteuid)
ONE_ID(gid_t, getgid)
ONE_ID(gid_t, getegid)

FILES_API pid_t getppid(void)
{
    return files_are_on ? 0 : FILES_REAL(getppid)();
}

FILES_API int getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
    if (!files_are_on) {
        return FILES_REAL(getresuid)(real, effective, saved);
    }
    *real = *effective = *saved = FILES_USER;
    return 0;
}

FILES_API int getresgid(gid_t *real, gid_t *effective, gid_t *saved)
{
    if (!files_are_on) {
        return FILES_REAL(getresgid)(real, effective, saved);
    }
    *real = *effective = *saved = FILES_USER;
    return 0;
}

FILES_API int getgroups(int size, gid_t list[])
{
    if (!files_are_on) {
        return FILES_REAL(getgroups)(size, list);
    }
    if (size > 0) {
        list[0] = FILES_USER;
    }
    return 1;
}

FILES_API int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
    int room;

    if (!files_are_on) {
        return FILES_REAL(getgrouplist)(user, group, groups, count);
    }
    room = *count;
    *count = 1;
    if (room < 1) {
        return -1;
    }
    groups[0] = group;
    return 1;
}

FILES_API char *getlogin(void)
{
    static char name[] = "vial";

    return name;
}

/* Programs may write into what they are given, so it is made anew each time. */
struct user_texts {
    char name[8], password[8], home[16], shell[8];
};

static struct user_texts texts;
static struct passwd user;
static struct group group;
static char *group_members[1];
static int users_told, groups_told;

static struct passwd *the_user(void)
{
    texts = (struct user_texts){
        .name = "vial", .password = "x", .home = "/home/vial", .shell = "/bin/sh"};
    user = (struct passwd){.pw_name = texts.name,
        .pw_passwd = texts.password,
        .pw_uid = FILES_USER,
        .pw_gid = FILES_USER,
        .pw_gecos = texts.name,
        .pw_dir = texts.home,
        .pw_shell = texts.shell};
    return &user;
}

static struct group *the_group(void)
{
    (void)the_user();
    group_members[0] = NULL;
    group = (struct group){.gr_name = texts.name,
        .gr_passwd = texts.password,
        .gr_gid = FILES_USER,
        .gr_mem = group_members};
    return &group;
}

FILES_API struct passwd *getpwuid(uid_t uid)
{
    return uid == FILES_USER ? the_user() : NULL;
}

FILES_API struct passwd *getpwnam(const char *name)
{
    return strcmp(name, "vial") == 0 ? the_user() : NULL;
}

/* 0 with *result NULL: there is no such user. */
FILES_API int getpwuid_r(
    uid_t uid, struct passwd *ret, char *bytes, size_t len, struct passwd **result)
{
    (void)bytes;
    (void)len;
    *result = uid == FILES_USER ? ret : NULL;
    if (*result != NULL) {
        *ret = *the_user();
    }
    return 0;
}

FILES_API int getpwnam_r(
    const char *name, struct passwd *ret, char *bytes, size_t len, struct passwd **result)
{
    return getpwuid_r(strcmp(name, "vial") == 0 ? FILES_USER : 0, ret, bytes, len, result);
}

FILES_API int getgrgid_r(
    gid_t gid, struct group *ret, char *bytes, size_t len, struct group **result)
{
    (void)bytes;
    (void)len;
    *result = gid == FILES_USER ? ret : NULL;
    if (*result != NULL) {
        *ret = *the_group();
    }
    return 0;
}

FILES_API int getgrnam_r(
    const char *name, struct group *ret, char *bytes, size_t len, struct group **result)
{
    return getgrgid_r(strcmp(name, "vial") == 0 ? FILES_USER : 0, ret, bytes, len, result);
}

FILES_API void setpwent(void)
{
    users_told = 0;
}

FILES_API void endpwent(void)
{
    users_told = 0;
}

FILES_API struct passwd *getpwent(void)
{
    return users_told++ == 0 ? the_user() : NULL;
}

FILES_API void setgrent(void)
{
    groups_told = 0;
}

FILES_API void endgrent(void)
{
    groups_told = 0;
}

FILES_API struct group *getgrent(void)
{
    return groups_told++ == 0 ? the_group() : NULL;
}
