/* test_mapping.c - what this process is told about its own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/mapping.h"

static struct mapping_list list;

/* The mapping of an address; none is not readable. */
static struct mapping find(const void *at)
{
    unsigned i;

    for (i = 0; i < list.count; i++) {
        if ((uintptr_t)at >= list.items[i].start && (uintptr_t)at < list.items[i].end) {
            return list.items[i];
        }
    }
    return (struct mapping){.prot = -1};
}

static void the_list_tells_memory_from_files(void **state)
{
    char *pages =
        mmap(NULL, (size_t)64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mapping m;
    unsigned i;

    (void)state;
    assert_true(pages != MAP_FAILED);
    memset(pages, 1, (size_t)64 * PAGE);
    mapping_list_read(&list);
    m = find(pages);
    assert_int_equal(m.of_file, 0);
    assert_int_equal(m.prot, PROT_READ | PROT_WRITE);
    assert_true(m.used_kib >= 256);
    m = find((const void *)(uintptr_t)the_list_tells_memory_from_files);
    assert_int_equal(m.of_file, 1);
    assert_int_equal(m.prot, PROT_READ | PROT_EXEC);
    for (i = 0; i < list.count; i++) { /* what it needed for itself is gone, and not in it */
        unsigned char resident;

        if (list.items[i].end < (uintptr_t)1 << 47) {
            assert_int_equal(mincore((void *)list.items[i].start, PAGE, &resident), 0);
        }
    }
    (void)munmap(pages, (size_t)64 * PAGE);
}

static void pages_are_own_shared_of_a_file_or_not_there(void **state)
{
    char *pages =
        mmap(NULL, (size_t)4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int look_fd = mapping_look_open();
    uint8_t states[4];
    int pipe_fds[2], status;
    char byte;
    pid_t pid;

    (void)state;
    assert_true(pages != MAP_FAILED && look_fd >= 0);
    pages[0] = 1;
    pages[(size_t)2 * PAGE] = 1;
    assert_int_equal(mapping_look(look_fd, (uintptr_t)pages, 4, states), 4);
    assert_memory_equal(states, ((uint8_t[]){PAGE_OWN, PAGE_NONE, PAGE_OWN, PAGE_NONE}), 4);
    assert_int_equal(pipe(pipe_fds), 0);
    pid = fork();
    if (pid == 0) {
        (void)close(pipe_fds[1]);
        _exit(read(pipe_fds[0], &byte, 1) != 0); /* until the other end is closed */
    }
    assert_int_equal(mapping_look(look_fd, (uintptr_t)pages, 1, states), 1);
    assert_int_equal(states[0], PAGE_SHARED);
    (void)close(pipe_fds[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(pipe_fds[0]);
    assert_int_equal(
        mapping_look(look_fd, (uintptr_t)pages_are_own_shared_of_a_file_or_not_there / PAGE * PAGE,
            1, states),
        1);
    assert_int_equal(states[0], PAGE_FILE);
    (void)close(look_fd);
    (void)munmap(pages, (size_t)4 * PAGE);
}

static void without_a_look_nothing_is_told(void **state)
{
    uint8_t states[1];

    (void)state;
    assert_int_equal(mapping_look(-1, 0, 1, states), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_tells_memory_from_files),
        cmocka_unit_test(pages_are_own_shared_of_a_file_or_not_there),
        cmocka_unit_test(without_a_look_nothing_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
