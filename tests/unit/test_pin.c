/* test_pin.c - pages that a copy of a process is born with. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/pin.h"
#include "helper.h"

enum { PAGE = 4096 };

/* Is the page this process's own, by the kernel's account? */
static int is_own(const char *page)
{
    static const uint64_t present = 1ULL << 63, exclusive = 1ULL << 56;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    ssize_t n = pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)page / PAGE * sizeof(entry)));

    (void)close(fd);
    return n == (ssize_t)sizeof(entry) && (entry & present) != 0 && (entry & exclusive) != 0;
}

/* The first page was pinned, the second was not. */
static int look_in_copy(void *user)
{
    char *pages = user;

    CHILD_CHECK(is_own(pages));
    CHILD_CHECK(!is_own(pages + PAGE));
    CHILD_CHECK(pages[1] == 7 && pages[PAGE + 1] == 7);
    pages[1] = 8;
    return CHILD_FINE;
}

static void a_copy_is_born_with_pinned_pages(void **state)
{
    char *pages =
        mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec first = {.iov_base = pages, .iov_len = PAGE};
    int fd = pin_open();

    (void)state;
    assert_true(pages != MAP_FAILED);
    if (fd < 0) {
        helper_say_skip("this kernel has no rings for us, so nothing can be pinned");
        skip();
    }
    memset(pages, 7, (size_t)2 * PAGE);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(pin_ranges(fd, &first, 1), 0);
    assert_int_equal(helper_in_child(look_in_copy, pages), CHILD_FINE);
    assert_int_equal(pages[1], 7);
    (void)close(fd);
    (void)munmap(pages, (size_t)2 * PAGE);
}

static void what_is_not_there_cannot_be_pinned(void **state)
{
    struct iovec nowhere = {.iov_base = NULL, .iov_len = PAGE};
    int fd = pin_open();

    (void)state;
    assert_int_equal(pin_ranges(-1, &nowhere, 1), -1);
    if (fd >= 0) {
        assert_int_equal(pin_ranges(fd, &nowhere, 1), -1);
        (void)close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_born_with_pinned_pages),
        cmocka_unit_test(what_is_not_there_cannot_be_pinned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
