/* test_document_files.c - variables, the directory, files and mounts of a document. */
#include "policy/document.h"

#include "documents.h"

static void everything_is_read(void **state)
{
    struct document *doc = documents_pass(
        "{'name': 'a', 'env': {'TZ': 'UTC', 'EMPTY': ''}, 'cwd': '/home/vial/work',"
        " 'files': {'b.txt': 'caf\xc3\xa9', '/home/vial/a/x.bin': {'base64': 'AAEC'},"
        " './c': 'x\\u0000y'}, 'mounts': {'data': {'from': '/srv/data/'}}}");

    (void)state;
    assert_int_equal(doc->env.count, 2);
    assert_string_equal(doc->env.items[0], "TZ=UTC");
    assert_string_equal(doc->env.items[1], "EMPTY=");
    assert_string_equal(doc->cwd, "/home/vial/work");
    assert_int_equal(doc->files_count, 3); /* by name */
    assert_string_equal(doc->files[0].name, "a/x.bin");
    assert_int_equal(doc->files[0].len, 3);
    assert_memory_equal(doc->files[0].bytes, "\x00\x01\x02", 3);
    assert_string_equal(doc->files[1].name, "b.txt");
    assert_string_equal(doc->files[1].bytes, "caf\xc3\xa9");
    assert_int_equal(doc->files[2].len, 3);
    assert_memory_equal(doc->files[2].bytes, "x\0y", 3);
    assert_int_equal(doc->mounts_count, 1);
    assert_string_equal(doc->mounts[0].name, "data");
    assert_string_equal(doc->mounts[0].from, "/srv/data/");
    document_free(doc);
}

static void variables_have_names(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'env': {'': 'x'}}", "/env/", "is empty");
    documents_refuse("{'name': 'a', 'env': {'A=B': 'x'}}", "/env/A=B", "has an =");
    documents_refuse("{'name': 'a', 'env': {'A': 1}}", "/env/A", "must be a string");
    documents_refuse("{'name': 'a', 'env': {'A': 'x\\u0000'}}", "/env/A", "U+0000");
    documents_refuse("{'name': 'a', 'env': ['A=1']}", "/env", "must be an object");
}

static void the_directory_is_inside(void **state)
{
    (void)state;
    documents_accept("{'name': 'a', 'cwd': 'x/y'}");
    documents_accept("{'name': 'a', 'cwd': '/home/vial'}");
    documents_refuse("{'name': 'a', 'cwd': '/tmp'}", "/cwd", "is not inside of /home/vial");
    documents_refuse("{'name': 'a', 'cwd': '../x'}", "/cwd", "part that is . or ..");
    documents_refuse("{'name': 'a', 'cwd': '/home/vialx'}", "/cwd", "is not inside");
}

static void files_lie_inside_and_not_in_each_other(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'files': {'../x': ''}}", "/files/..~1x", "part that is . or");
    documents_refuse("{'name': 'a', 'files': {'/etc/x': ''}}", "/files/~1etc~1x", "not inside");
    documents_refuse("{'name': 'a', 'files': {'': ''}}", "/files/", "is empty");
    documents_refuse("{'name': 'a', 'files': {'a': '', 'a/b': ''}}", "/files/a~1b", "within");
    documents_refuse("{'name': 'a', 'files': {'a/b': '', 'a.b': '', 'a': ''}}", "/files/a~1b",
        "within the file a,");
    documents_refuse("{'name': 'a', 'files': {'a': '', './a': ''}}", "/files/a", "the same");
    documents_refuse("{'name': 'a', 'files': {'a': 1}}", "/files/a", "must be a string, or");
    documents_refuse("{'name': 'a', 'files': {'a': {}}}", "/files/a", "must be a string, or");
    documents_refuse(
        "{'name': 'a', 'files': {'a': {'base64': 'A'}}}", "/files/a/base64", "multiple of four");
    documents_refuse(
        "{'name': 'a', 'files': {'a': {'base64': '', 'mode': 1}}}", "/files/a/mode", "no such key");
}

static void files_have_room_in_the_default_limits(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'files': {'a': 'xy', 'b': 'z'},"
                     " 'limits': {'default': {'disk_bytes_max': 4096}}}",
        "/files", "disk_bytes_max");
    documents_accept("{'name': 'a', 'files': {'a': 'xy', 'b': 'z'},"
                     " 'limits': {'default': {'disk_bytes_max': 8192}}}");
}

static void mounts_do_not_overlap(void **state)
{
    (void)state;
    documents_accept("{'name': 'a', 'mounts': {'a': {'from': '/a'}, 'ab': {'from': '/a'}}}");
    documents_refuse("{'name': 'a', 'files': {'d/x': ''}, 'mounts': {'d': {'from': '/srv'}}}",
        "/mounts/d", "overlaps with d/x");
    documents_refuse("{'name': 'a', 'files': {'d': ''}, 'mounts': {'d/e': {'from': '/srv'}}}",
        "/mounts/d~1e", "overlaps with d");
    documents_refuse("{'name': 'a', 'mounts': {'/home/vial': {'from': '/srv'}}}",
        "/mounts/~1home~1vial", "is empty");
    documents_refuse("{'name': 'a', 'mounts': {'../d': {'from': '/srv'}}}", "/mounts/..~1d", "..");
    free(documents_report("{'name': 'a', 'mounts': {'d': {'from': '/a'}, 'd/e': {'from': '/b'}}}"));
    free(documents_report("{'name': 'a', 'mounts': {'d': {'from': '/a'}, './d': {'from': '/b'}}}"));
}

static void only_directories_of_files_are_mounted(void **state)
{
    static const char *const bad[] = {"srv", "", "/", "//", "/srv/../etc", "/srv//x", "/proc",
        "/proc/1/root", "/sys/", "/dev", "/dev/shm", "/a\\u0001b"};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(
            text, sizeof(text), "{'name': 'a', 'mounts': {'d': {'from': '%s'}}}", bad[i]);
        documents_refuse(text, "/mounts/d/from", "the directory");
    }
    documents_accept("{'name': 'a', 'mounts': {'d': {'from': '/developer'}}}");
    documents_refuse("{'name': 'a', 'mounts': {'d': {}}}", "/mounts/d", "\\\"from\\\" is missing");
    documents_refuse("{'name': 'a', 'mounts': {'d': '/srv'}}", "/mounts/d", "must be an object");
    documents_refuse("{'name': 'a', 'mounts': {'d': {'from': '/srv', 'write': true}}}",
        "/mounts/d/write", "no such key");
}

static void without_files_there_are_none(void **state)
{
    (void)state;
    documents_accept("{'name': 'a', 'permissions': {'fs': 'deny'}, 'files': {}, 'mounts': {}}");
    documents_refuse("{'name': 'a', 'permissions': {'fs': 'deny'}, 'files': {'a': ''}}", "/files",
        "/permissions/fs");
    documents_refuse(
        "{'name': 'a', 'permissions': {'fs': 'deny'}, 'cwd': 'a'}", "/cwd", "/permissions/fs");
    documents_refuse("{'name': 'a', 'permissions': {'fs': 'deny'},"
                     " 'mounts': {'a': {'from': '/srv'}}}",
        "/mounts", "/permissions/fs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_read),
        cmocka_unit_test(variables_have_names),
        cmocka_unit_test(the_directory_is_inside),
        cmocka_unit_test(files_lie_inside_and_not_in_each_other),
        cmocka_unit_test(files_have_room_in_the_default_limits),
        cmocka_unit_test(mounts_do_not_overlap),
        cmocka_unit_test(only_directories_of_files_are_mounted),
        cmocka_unit_test(without_files_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
