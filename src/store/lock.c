/* lock.c - see lock.h.
 *
 * The locks are those of open file descriptions (Linux 3.15 or later): like flock(2) they end with
 * the last descriptor, unlike it they cover ranges, and unlike the older record locks a close of
 * some other descriptor of the file does not end them. */
#include "store/lock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

enum {
    PLACE_SHIFT = 31,       /* versions are below 2^31 */
    WAIT_NS = 5 * 1000000L, /* between two tries; what is waited for takes some milliseconds */
};

int lock_open(const char *path, int *ret_fd, struct vial_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0) {
        return vial__fail_sys(err, errno, "cannot open %s", path);
    }
    *ret_fd = fd;
    return VIAL_OK;
}

static struct flock range_of(const struct lock_place *place, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET};

    assert(place->environment >= 0 && place->environment < INT32_MAX);
    assert(place->version <= INT32_MAX);
    range.l_start = (off_t)(place->environment << PLACE_SHIFT) + (off_t)place->version;
    range.l_len = place->version == 0 && place->environment != 0 ? (off_t)1 << PLACE_SHIFT : 1;
    return range;
}

int lock_take(int fd, const struct lock_place *place, enum lock_kind kind, uint32_t ms,
    struct vial_error *err)
{
    struct flock range = range_of(place, kind == LOCK_SHARED ? F_RDLCK : F_WRLCK);
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    uint64_t end = clock_now_us() + (uint64_t)ms * 1000;

    while (fcntl(fd, F_OFD_SETLK, &range) < 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN && errno != EACCES) {
            return vial__fail_sys(err, errno, "cannot lock what is in use in the store");
        }
        if (clock_now_us() >= end) {
            return vial__fail(err, VIAL_E_BUSY, "another process holds it");
        }
        (void)nanosleep(&wait, NULL);
    }
    return VIAL_OK;
}

void lock_drop(int fd, const struct lock_place *place)
{
    struct flock range = range_of(place, F_UNLCK);

    (void)fcntl(fd, F_OFD_SETLK, &range); /* letting go of what is held does not fail */
}
