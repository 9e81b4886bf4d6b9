/* pin.c - see pin.h.
 *
 * Memory that a device may be about to write to cannot be shared between a process and its copy, so
 * fork copies it at once, which takes the kernel half of the time that a fault for it takes later.
 * Registered buffers of an io_uring are such memory. Nothing is ever asked of this ring: it is made
 * before the template confines itself, the template's filter has none of its calls, and cells close
 * the descriptor like all others. */
#include "cell/pin.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

int pin_open(void)
{
    struct io_uring_params params = {0};

    return (int)syscall(SYS_io_uring_setup, 1, &params); /* it closes itself at an exec */
}

int pin_ranges(int pin_fd, const struct iovec *ranges, unsigned count)
{
    return (int)syscall(
        SYS_io_uring_register, pin_fd, IORING_REGISTER_BUFFERS, ranges, (unsigned long)count);
}
