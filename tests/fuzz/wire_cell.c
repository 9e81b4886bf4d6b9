/* wire_cell.c - messages as a cell reads them from the host: the start of a program, and files.
 *
 * The input is rows of fields in a short form, as in wire_host.c; the first rows are files, the
 * last one is the start message. */
#include "base/glob.h"
#include "cell/files.h"
#include "cell/start.h"
#include "fuzz.h"
#include "vial.h"
#include "wire/field.h"

enum { ROW_MAX = 1 << 16, FILES_BYTES_MAX = 1 << 18 };

static size_t sent;

static void count_sent(const char *payload, size_t len)
{
    struct field f;
    size_t at = 0;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1) {
        FUZZ_CHECK(
            f.tag == FIELD_FILE_NAME || f.tag == FIELD_FILE_MODE || f.tag == FIELD_FILE_BYTES,
            "a file is sent with field %u", f.tag);
        FUZZ_CHECK(f.tag != FIELD_FILE_NAME || name_fault(f.bytes, f.len) == NULL,
            "the name of a file that is sent %s", name_fault(f.bytes, f.len));
    }
    FUZZ_CHECK(r == 0, "a file is sent in pieces that nobody can read");
    sent += len;
}

/* Takes one row of the input; 0 when it is the last one. */
static int take_row(struct fuzz_input *in, struct buf *row)
{
    unsigned head = fuzz_byte(in);
    unsigned fields = head % 32;
    size_t len;
    uint8_t tag;

    buf_clear(row);
    if (head >= 224) { /* as it is, but for patterns */
        if (memchr(in->at, FIELD_OUT, in->left) == NULL) {
            (void)!buf_add(row, in->at, in->left, NULL);
        }
        in->left = 0;
        return 0;
    }
    while (fields-- > 0 && in->left > 0) {
        tag = (uint8_t)fuzz_byte(in);
        len = fuzz_byte(in);
        len = len < in->left ? len : in->left;
        /* Patterns are judged by the host before it sends them. */
        if ((tag != FIELD_OUT || glob_fault(in->at, len) == NULL) &&
            field_add(row, tag, in->at, len, NULL) < 0) {
            break;
        }
        in->at += len;
        in->left -= len;
    }
    return head < 128 && in->left > 0;
}

static void check_start(const struct guest_start *start)
{
    const char *end = start->fields + start->fields_len;
    size_t i;

    FUZZ_CHECK(start->source != NULL && start->source + start->source_len <= end, "the source");
    FUZZ_CHECK(start->name != NULL && start->name + start->name_len <= end, "the name");
    FUZZ_CHECK(start->input == NULL || start->input + start->input_len <= end, "the input");
    FUZZ_CHECK(start->module_count <= VIAL_MODULES_MAX, "%zu modules", start->module_count);
    for (i = 0; i < start->module_count; i++) {
        const struct guest_module *m = &start->modules[i];

        FUZZ_CHECK(m->name + m->name_len <= end, "the name of a module");
        FUZZ_CHECK(m->source == NULL || m->source + m->source_len <= end, "the source of one");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct memfs_limits first = {
        .bytes_max = FILES_BYTES_MAX, .files_max = 100, .open_max = 16};
    struct fuzz_input in = fuzz_input(data, size);
    struct memfs_limits limits = first;
    uint32_t left[LEFT_COUNT] = {0};
    static struct files_in files;
    struct guest_start start;
    struct files_out out;
    struct memfs fs;
    struct buf row;
    char *message;

    memfs_init(&fs, &first);
    files_in_init(&files, &fs);
    buf_init(&row, ROW_MAX);
    while (take_row(&in, &row)) {
        if (files_in_take(&files, row.data, row.len) < 0) {
            break;
        }
    }
    message = fuzz_copy(row.data, row.len);
    if (start_parse(message, row.len, &fs, &start, &limits) == 0) {
        check_start(&start);
        if (memfs_limit(&fs, &limits) == 0) {
            out = (struct files_out){.fs = &fs,
                .fields = start.fields,
                .fields_len = start.fields_len,
                .bytes_max = fs.limits.bytes_max,
                .send = count_sent};
            files_collect(&out, left);
        }
    }
    free(message);
    buf_release(&row);
    memfs_release(&fs);
    return 0;
}
