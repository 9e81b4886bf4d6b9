/* test_image.c - the memory of a process as a file that its copies share. Each test makes the image
 * of a whole process, a copy of this one. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/image.h"
#include "helper.h"

#ifdef __SANITIZE_ADDRESS__

static void a_sanitizer_has_no_image(void **state)
{
    (void)state;
    helper_say_skip("the sanitizer's own memory cannot be replaced under it");
    skip();
}

#else

enum { PAGES = 2048 }; /* of a heap; four huge pages, wherever it begins */

static struct mapping_list list;
static char *heap;

/* Takes the image of this process, heap included; a look at pages, or -1. */
static int take_image(void)
{
    int look_fd = mapping_look_open();
    int i;

    image_prepare();
    heap = mmap(
        NULL, (size_t)2 * PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED || look_fd < 0) {
        return -1;
    }
    for (i = 0; i < PAGES; i++) {
        memset(heap + (size_t)i * PAGE, 1 + i % 100, PAGE);
    }
    mapping_list_read(&list);
    image_take(look_fd, &list);
    return look_fd;
}

static uint8_t state_at(int look_fd, const char *at)
{
    uint8_t state = PAGE_NONE;

    (void)mapping_look(look_fd, (uintptr_t)at, 1, &state);
    return state;
}

static int is_as_it_was(void)
{
    int i;

    for (i = 0; i < PAGES; i++) {
        if (heap[(size_t)i * PAGE] != 1 + i % 100 ||
            heap[(size_t)i * PAGE + PAGE - 1] != 1 + i % 100) {
            return 0;
        }
    }
    return heap[(size_t)PAGES * PAGE] == 0;
}

static int go_on_with_an_image(void *user)
{
    int look_fd = take_image();
    char *more;

    (void)user;
    CHILD_CHECK(look_fd >= 0);
    CHILD_CHECK(image_bytes() >= (size_t)PAGES * PAGE);
    CHILD_CHECK(is_as_it_was());
    CHILD_CHECK(state_at(look_fd, heap) == PAGE_FILE);
    heap[5] = 99;
    CHILD_CHECK(state_at(look_fd, heap) == PAGE_OWN);
    CHILD_CHECK(heap[5] == 99 && heap[4] == 1);
    more = malloc(8 << 20); /* libc goes on, too */
    CHILD_CHECK(more != NULL);
    memset(more, 3, 8 << 20);
    free(more);
    return CHILD_FINE;
}

static void a_process_goes_on_as_its_image(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(go_on_with_an_image, NULL), CHILD_FINE);
}

static int write_in_a_copy(void *user)
{
    int look_fd = take_image();
    int status = 0;
    pid_t pid;

    (void)user;
    CHILD_CHECK(look_fd >= 0);
    heap[0] = 42;
    pid = fork();
    if (pid == 0) {
        int is_fine = heap[0] == 42 && heap[PAGE] == 2;

        memset(heap, 7, (size_t)PAGES * PAGE);
        _exit(is_fine && heap[PAGE] == 7 ? 0 : 1);
    }
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHILD_CHECK(heap[0] == 42 && heap[PAGE] == 2);
    heap[0] = 1;
    CHILD_CHECK(is_as_it_was());
    return CHILD_FINE;
}

static void copies_write_to_pages_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(write_in_a_copy, NULL), CHILD_FINE);
}

/* A privileged process can open what is mapped by its address. */
static int write_to_the_file(void *user)
{
    int look_fd = take_image();
    char path[96];
    int fd;
    unsigned i;

    (void)user;
    CHILD_CHECK(look_fd >= 0);
    mapping_list_read(&list);
    for (i = 0; i < list.count && (uintptr_t)heap != list.items[i].start; i++) {
    }
    CHILD_CHECK(i < list.count && list.items[i].of_file);
    (void)snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
        (unsigned long)list.items[i].start, (unsigned long)list.items[i].end);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 && errno == EPERM) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(fd >= 0);
    CHILD_CHECK(pwrite(fd, "x", 1, 0) == -1 && errno == EPERM);
    CHILD_CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    CHILD_CHECK(ftruncate(fd, 0) == -1 && errno == EPERM);
    return CHILD_FINE;
}

static void nobody_writes_to_the_file(void **state)
{
    int r = helper_in_child(write_to_the_file, NULL);

    (void)state;
    if (r == CHILD_SKIPPED) {
        helper_say_skip("only a privileged process can open what it has mapped");
        skip();
    }
    assert_int_equal(r, CHILD_FINE);
}

static int look_in_a_copy(void *user)
{
    static struct image_set set;
    int look_fd = take_image();
    int status = 0, i;
    pid_t pid;

    (void)user;
    CHILD_CHECK(look_fd >= 0);
    heap[(size_t)700 * PAGE] = 1; /* so that copies have a table for it at all */
    memset(&set, 0, sizeof(set));
    image_keep(look_fd, &set);
    CHILD_CHECK(state_at(look_fd, heap + (size_t)701 * PAGE) == PAGE_NONE);
    CHILD_CHECK(state_at(look_fd, heap + (size_t)700 * PAGE) == PAGE_OWN);
    pid = fork();
    if (pid == 0) {
        int own_fd = mapping_look_open();
        int found = 0;

        image_scatter();
        found = heap[(size_t)750 * PAGE] == 1 + 750 % 100;
        found = found && state_at(own_fd, heap + (size_t)750 * PAGE) == PAGE_FILE;
        found = found && state_at(own_fd, heap + (size_t)751 * PAGE) == PAGE_NONE;
        image_look(own_fd, &set);
        for (i = 0; i < IMAGE_PAGES_MAX; i++) {
            status += set.bits[i / 8] >> (i % 8) & 1;
        }
        /* It also looked at libraries. */
        _exit(found && status > 0 && status < 600 ? 0 : 1);
    }
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    image_map(NULL);
    CHILD_CHECK(state_at(look_fd, heap + (size_t)1500 * PAGE) == PAGE_FILE);
    CHILD_CHECK(state_at(look_fd, heap + (size_t)700 * PAGE) == PAGE_OWN);
    return CHILD_FINE;
}

static void pages_are_there_when_they_are_touched(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(look_in_a_copy, NULL), CHILD_FINE);
}

static int give_pages_back(void *user)
{
    int look_fd = take_image();
    int i;

    (void)user;
    CHILD_CHECK(look_fd >= 0);
    CHILD_CHECK(madvise(heap + (size_t)10 * PAGE, (size_t)4 * PAGE, MADV_DONTNEED) == 0);
    for (i = 10; i < 14; i++) {
        CHILD_CHECK(heap[(size_t)i * PAGE] == 0);
    }
    CHILD_CHECK(heap[(size_t)9 * PAGE] == 10 && heap[(size_t)14 * PAGE] == 15);
    heap[(size_t)20 * PAGE] = 5;
    CHILD_CHECK(madvise(heap + (size_t)20 * PAGE, PAGE, MADV_FREE) == 0);
    CHILD_CHECK(heap[(size_t)20 * PAGE] == 0);
    /* Beyond the image it is the kernel's call. */
    heap[(size_t)(PAGES + 100) * PAGE] = 5;
    CHILD_CHECK(madvise(heap + (size_t)(PAGES + 100) * PAGE, PAGE, MADV_DONTNEED) == 0);
    CHILD_CHECK(heap[(size_t)(PAGES + 100) * PAGE] == 0);
    CHILD_CHECK(madvise(heap, PAGE, 12345) == -1);
    return CHILD_FINE;
}

static void pages_that_are_given_back_are_zero(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(give_pages_back, NULL), CHILD_FINE);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(a_sanitizer_has_no_image),
#else
        cmocka_unit_test(a_process_goes_on_as_its_image),
        cmocka_unit_test(copies_write_to_pages_of_their_own),
        cmocka_unit_test(nobody_writes_to_the_file),
        cmocka_unit_test(pages_are_there_when_they_are_touched),
        cmocka_unit_test(pages_that_are_given_back_are_zero),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
