/* cgroup_find.h - where in the file tree this process may make control groups. */
#ifndef VIAL_JAIL_CGROUP_FIND_H
#define VIAL_JAIL_CGROUP_FIND_H

/* The group that a process steps down into when it is alone in a group to be used (version 2). It
 * stays when the engine goes: the process is in it. */
#define CGROUP_HOST_GROUP "vial.host"

enum {
    CGROUP_PLACES_MAX = 3,    /* version 1, version 2 at our own group, version 2 at the top */
    CGROUP_PLACE_BYTES = 400, /* mount point and group; longer ones are passed over */
};

struct cgroup_place {
    int version;
    char path[CGROUP_PLACE_BYTES];
};

/* Directories where groups with this controller could be made, the best first; how many. */
unsigned cgroup_find(const char *controller, struct cgroup_place places[CGROUP_PLACES_MAX]);

/* The same from given texts (/proc/self/mounts, /proc/self/cgroup), for tests. */
unsigned cgroup_find_in(const char *mounts, const char *groups, const char *controller,
    struct cgroup_place places[CGROUP_PLACES_MAX]);

/* Removes the groups directly below; those that have processes stay. */
void cgroup_remove_children(int dir_fd);

#endif
