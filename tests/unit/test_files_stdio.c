/* test_files_stdio.c - libc's FILEs on the files of a run. */
#include "python_files.h"

static void text_goes_in_and_comes_out(void **state)
{
    FILE *file = fopen("f", "w");
    char line[16] = "";

    (void)state;
    assert_non_null(file);
    assert_true(fprintf(file, "one\ntwo\n") > 0);
    assert_int_equal(fclose(file), 0);
    file = fopen("f", "a+");
    assert_int_equal(fputs("three\n", file), 1);
    rewind(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, "one\n");
    assert_int_equal(fseek(file, -6, SEEK_END), 0);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, "three\n");
    assert_int_equal(ftell(file), 14);
    assert_int_equal(fclose(file), 0);
    assert_null(fopen("none", "r"));
    assert_int_equal(errno, ENOENT);
    assert_null(fopen("f", "wx"));
    assert_int_equal(errno, EEXIST);
    assert_null(fopen("f", "q"));
    assert_int_equal(errno, EINVAL);
}

static void a_descriptor_becomes_a_file(void **state)
{
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    FILE *file;

    (void)state;
    assert_int_equal(write(fd, "abc", 3), 3);
    file = fdopen(fd, "r+");
    assert_int_equal(fileno(file), fd);
    assert_int_equal(ftell(file), 3); /* it is where the descriptor is */
    assert_int_equal(fputc('d', file), 'd');
    assert_int_equal(fclose(file), 0);
    assert_fails(close(fd), EBADF);
    fd = open("f", O_RDONLY);
    assert_null(fdopen(fd, "w"));
    assert_int_equal(errno, EINVAL);
    assert_null(fdopen(99, "r"));
    assert_int_equal(errno, EBADF);
}

static void a_full_disk_is_an_error(void **state)
{
    static char much[2 << 20];
    FILE *file = fopen("f", "w");

    (void)state;
    assert_true(fwrite(much, 1, sizeof(much), file) < sizeof(much));
    assert_true(ferror(file));
    (void)fclose(file);
}

static void output_can_be_a_file_of_libcs(void **state)
{
    FILE *file = fdopen(dup(1), "w");

    (void)state;
    assert_int_equal(fputs("printed", file), 1);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(printed[1], "printed");
}

static void a_temporary_file_has_no_name(void **state)
{
    uint32_t files = fs.files_count;
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    assert_int_equal(fputs("x", file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(fs.files_count, files + 2); /* the work directory and .tmp are made by now */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(text_goes_in_and_comes_out),
        WITH_FILES(a_descriptor_becomes_a_file),
        WITH_FILES(a_full_disk_is_an_error),
        WITH_FILES(output_can_be_a_file_of_libcs),
        WITH_FILES(a_temporary_file_has_no_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
