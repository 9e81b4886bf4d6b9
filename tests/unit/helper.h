/* helper.h - what several unit tests share: engines with the real cell program, work that must be
 * done in a child because it cannot be undone, and counting what is left behind.
 *
 * A helper that fails prints why and aborts: that ends the test program, which counts as a failure.
 */
#ifndef VIAL_TESTS_HELPER_H
#define VIAL_TESTS_HELPER_H

#include <stdint.h>
#include <sys/types.h>

#include "vial.h"

/* What a function that runs in a child returns: all well, or not possible on this kernel. */
enum { CHILD_FINE = 0, CHILD_FAILED = 1, CHILD_SKIPPED = 77 };

/* In a child: leaves the function when something that must hold does not, and says where. */
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            helper_complain(__FILE__, __LINE__, #condition);                                       \
            return CHILD_FAILED;                                                                   \
        }                                                                                          \
    } while (0)

void helper_complain(const char *file, int line, const char *condition);

/* Runs fn(user) in a child; its return value, or 256 plus the signal that ended it. */
int helper_in_child(int (*fn)(void *user), void *user);

/* Prints why a test cannot be done here, as a comment in the output. VIAL_MUST_WORK=1 aborts
 * instead. */
void helper_say_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Options for an engine that starts soon, with the cell program of this build. */
struct vial_engine_options helper_options(void);

/* An engine with a pool of one, else with the defaults. */
struct vial_engine *helper_engine(void);

/* Runs a source to its end; limits may be NULL. */
struct vial_result *helper_run(
    struct vial_engine *engine, const char *source, const struct vial_limits *limits);

/* The same, for a caller that only wants to know how it ended: the status, or a negative code. */
int helper_status(struct vial_engine *engine, const char *source, const struct vial_limits *limits);

/* Runs a source that must end well and have this value, as JSON; aborts with both when not. */
void helper_expect(struct vial_engine *engine, const char *source, const char *value);

/* Descriptors open in this process. */
unsigned helper_fds_count(void);

/* Has this process no child, not even a dead one? */
int helper_has_no_children(void);

/* Waits until a process is gone or dead, for at most ms; 1 when it is. */
int helper_wait_gone(pid_t pid, unsigned ms);

void helper_sleep_ms(unsigned ms);

#endif
