/* limits.c - see limits.h.
 *
 * A struct vial_limits carries the size it was compiled with. One that is shorter than ours lacks
 * the newer fields, and they have their defaults; one that is longer may ask for a limit we do not
 * know, and since a limit that is not enforced is worse than a refusal, its unknown tail must be
 * zero. */
#include "policy/limits.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define DAY_MS UINT64_C(86400000)

/* A larger size is not a newer header but a struct that nobody initialised, and looking for its
 * tail would read what is not ours. */
enum { LIMITS_SIZE_MAX = 4096 };

#define FIELD(name)                                                                                \
    .field = #name, .offset = offsetof(struct vial_limits, name),                                  \
    .width = sizeof(((struct vial_limits *)NULL)->name)

static const struct limit_row rows[] = {
    {FIELD(wall_ms_max), .flag = "--wall-ms", .unit = "ms", .flag_factor = 1, .by_default = 10000,
        .min = 1, .max = DAY_MS, .status = VIAL_STATUS_WALL_LIMIT, .at_limit = "the run is stopped",
        .help = "Time a run may take from start to end, waiting included, in milliseconds.",
        .why = "Ten seconds is what a caller waits without losing patience; a cell that is busy for"
               " more than a day is not a run but a service."},
    {FIELD(cpu_ms_max), .flag = "--cpu-ms", .unit = "ms", .flag_factor = 1, .by_default = 5000,
        .min = 1, .max = DAY_MS, .status = VIAL_STATUS_CPU_LIMIT, .at_limit = "the run is stopped",
        .help = "Processor time a run may use, waiting excluded, in milliseconds.",
        .why = "A cell has one thread, so it never uses more than its wall time; half of that by"
               " default leaves room to wait. The bounds are those of the wall time."},
    {FIELD(timers_max), .flag = "--timers", .unit = "timers", .flag_factor = 1, .by_default = 10000,
        .min = 1, .max = 1000000, .status = -1, .at_limit = "setting one more timer throws",
        .help = "Timers that may be pending at once.",
        .why = "A program that means well has a few hundred. Each lives in the guest's own memory,"
               " which bounds them too; the maximum keeps the queue quick to work on."},
    {FIELD(memory_bytes_max), .flag = "--memory-mb", .unit = "bytes", .flag_factor = MIB,
        .by_default = 128 * MIB, .min = 16 * MIB, .max = 64 * GIB,
        .status = VIAL_STATUS_MEMORY_LIMIT, .at_limit = "the run is stopped",
        .help = "Memory a run may add to a fresh cell, in units of 1,048,576 bytes.",
        .why = "Below 16 MiB the engine's own garbage, compiled code and heap growth steps strike"
               " the limit before the guest's data does; the engine reserves some 71 GB of address"
               " space at its start, so more than 64 GiB could not be used."},
    {FIELD(stdout_bytes_max), .flag = "--stdout-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = MIB, .min = 1, .max = GIB, .status = -1,
        .at_limit = "what is beyond is counted and dropped",
        .help = "Bytes of standard output that are kept.",
        .why = "The host keeps it in memory, and a result is read by a model or a person: 1 MiB is"
               " more than either reads, 1 GiB is what one host can spare for one run."},
    {FIELD(stderr_bytes_max), .flag = "--stderr-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = MIB, .min = 1, .max = GIB, .status = -1,
        .at_limit = "what is beyond is counted and dropped",
        .help = "Bytes of standard error that are kept.",
        .why = "The bounds are those of standard output, for the same reasons."},
    {FIELD(value_bytes_max), .flag = "--value-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = 16 * MIB, .min = 64, .max = 256 * MIB, .status = VIAL_STATUS_EXCEPTION,
        .at_limit = "the run fails and says how large the value was",
        .help = "Bytes the value of a run may have.",
        .why = "A value is useful whole or not at all, so it is never cut. 64 bytes hold any number"
               " or short word; 256 MiB is far below the longest string of any engine, and the host"
               " holds it twice while it writes the result."},
    {FIELD(disk_bytes_max), .flag = "--disk-mb", .unit = "bytes", .flag_factor = MIB,
        .by_default = 64 * MIB, .min = 4096, .max = 16 * GIB, .status = -1,
        .at_limit = "writing fails with ENOSPC or EFBIG",
        .help = "Bytes of all files of a run together, in units of 1,048,576 bytes.",
        .why = "The files live in memory, so the default is half of the default memory; less than"
               " one page of 4096 bytes holds no file at all."},
    {FIELD(files_max), .flag = "--file-count", .unit = "files", .flag_factor = 1,
        .by_default = 4096, .min = 8, .max = 1000000, .status = -1,
        .at_limit = "creating one more fails with ENOSPC",
        .help = "Files and directories a run may have at once.",
        .why = "Each takes some hundred bytes of the run's memory that no byte limit counts: a"
               " million is a quarter of a gigabyte. The directory and /tmp take two."},
    {FIELD(open_files_max), .flag = "--open-files", .unit = "descriptors", .flag_factor = 1,
        .by_default = 32, .min = 8, .max = 1024, .status = -1,
        .at_limit = "opening one more fails with EMFILE",
        .help = "Descriptors a run may have open at once, four for the process included.",
        .why = "The numbers 0 to 3 belong to the process, and copying a file takes two. 1024 is"
               " where select(2) ends and what one process gets by default."},
    {FIELD(calls_max), .flag = "--calls", .unit = "calls", .flag_factor = 1, .by_default = 1000,
        .min = 1, .max = 10000000, .status = VIAL_STATUS_CALL_LIMIT,
        .at_limit = "one more call fails; a program that goes on calling is stopped",
        .help = "Calls of tools in one run.",
        .why = "A program that a model wrote makes a few dozen; a thousand is a loop over rows."
               " Each costs the host some microseconds and what the tool does."},
    {FIELD(calls_at_once_max), .flag = "--calls-at-once", .unit = "calls", .flag_factor = 1,
        .by_default = 128, .min = 1, .max = 10000, .status = -1,
        .at_limit = "one more call fails until an answer has come",
        .help = "Calls of tools that may wait for their answer at the same time.",
        .why = "As many as there are threads by default to serve them; the host keeps the arguments"
               " of each."},
    {FIELD(call_bytes_max), .flag = "--call-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = MIB, .min = 64, .max = 64 * MIB, .status = -1,
        .at_limit = "the call fails and says how large it was",
        .help = "Bytes the arguments of a call may have, and its answer.",
        .why = "Calls carry rows, not datasets; 64 MiB times the calls at once is what one host can"
               " spare."},
    {FIELD(approval_ms_max), .flag = "--approval-ms", .unit = "ms", .flag_factor = 1,
        .by_default = 600000, .min = 1, .max = 7 * DAY_MS, .status = -1,
        .at_limit = "the call is denied",
        .help = "Time a call may wait for somebody's approval, in milliseconds.",
        .why = "Ten minutes is for somebody at a screen; a week is the longest weekend."},
    {FIELD(requests_max), .flag = "--requests", .unit = "requests", .flag_factor = 1,
        .by_default = 100, .min = 1, .max = 100000, .status = VIAL_STATUS_CALL_LIMIT,
        .at_limit = "one more request fails; a program that goes on asking is stopped",
        .help = "Requests to the network in one run, redirects included.",
        .why = "A program that a model wrote makes a few; a hundred is a loop over pages. Each is"
               " also a chance to carry something out."},
    {FIELD(requests_at_once_max), .flag = "--requests-at-once", .unit = "requests",
        .flag_factor = 1, .by_default = 8, .min = 1, .max = 64, .status = -1,
        .at_limit = "one more request waits for its turn",
        .help = "Requests to the network that may be under way at the same time.",
        .why = "Browsers open six connections to a server; each takes a connection of the host."},
    {FIELD(request_ms_max), .flag = "--request-ms", .unit = "ms", .flag_factor = 1,
        .by_default = 30000, .min = 1, .max = DAY_MS, .status = -1, .at_limit = "the request fails",
        .help = "Time a request to the network may take, in milliseconds.",
        .why = "Three times what a run takes by default, so that of a slow server the run's own"
               " limit is told; the longest is that of a run."},
    {FIELD(redirects_max), .flag = "--redirects", .unit = "redirects", .flag_factor = 1,
        .by_default = 0, .min = 0, .max = 20, .status = -1, .at_limit = "the request fails",
        .help = "Redirects one request to the network may follow; each is judged by the rules.",
        .why = "None by default: where a server sends a program is not the operator's choice."
               " Browsers give up after 20."},
    {FIELD(request_bytes_max), .flag = "--request-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = MIB, .min = 64, .max = 64 * MIB, .status = -1,
        .at_limit = "the request fails",
        .help = "Bytes the body of a request to the network may have.",
        .why = "Requests carry a question or a document; 64 MiB times the requests at once is what"
               " one host can spare."},
    {FIELD(response_bytes_max), .flag = "--response-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = 8 * MIB, .min = 64, .max = 16 * GIB, .status = -1,
        .at_limit = "reading the answer fails",
        .help = "Bytes an answer of the network may have, as it comes.",
        .why = "More than nearly all pages and answers of services. What is read is in the memory"
               " of the program, which bounds it too."},
    {FIELD(decoded_bytes_max), .flag = "--decoded-bytes", .unit = "bytes", .flag_factor = 1,
        .by_default = 32 * MIB, .min = 64, .max = 64 * GIB, .status = -1,
        .at_limit = "reading the answer fails",
        .help = "Bytes an answer of the network may have after decompression.",
        .why = "Text shrinks to a quarter or a tenth; what grows to more than that is a bomb."},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const struct limit_row *limits_table(size_t *ret_count)
{
    *ret_count = ROW_COUNT;
    return rows;
}

uint64_t limits_get(const struct vial_limits *limits, const struct limit_row *row)
{
    const char *at = (const char *)limits + row->offset;
    uint32_t narrow;
    uint64_t wide;

    if (row->width == sizeof(narrow)) {
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    }
    assert(row->width == sizeof(wide));
    memcpy(&wide, at, sizeof(wide));
    return wide;
}

void limits_put(struct vial_limits *limits, const struct limit_row *row, uint64_t value)
{
    char *at = (char *)limits + row->offset;
    uint32_t narrow = (uint32_t)value;

    assert(value <= row->max); /* and so fits: the test of the table sees to that */
    if (row->width == sizeof(narrow)) {
        memcpy(at, &narrow, sizeof(narrow));
    } else {
        memcpy(at, &value, sizeof(value));
    }
}

static int check_range(const struct limit_row *row, uint64_t value, struct vial_error *err)
{
    if (value >= row->min && value <= row->max) {
        return VIAL_OK;
    }
    return vial__fail(err, VIAL_E_INVALID,
        "%s (%s) is %" PRIu64 " %s; it must be between %" PRIu64 " and %" PRIu64, row->field,
        row->flag, value, row->unit, row->min, row->max);
}

int limits_set_from_flag(struct vial_limits *limits, const struct limit_row *row, uint64_t number,
    struct vial_error *err)
{
    uint64_t value;
    int r;

    if (__builtin_mul_overflow(number, row->flag_factor, &value)) {
        value = UINT64_MAX; /* out of every range, and reported as such */
    }
    r = check_range(row, value, err);
    if (r < 0) {
        return r;
    }
    limits_put(limits, row, value);
    return VIAL_OK;
}

static int check_size(const struct vial_limits *from, struct vial_error *err)
{
    const char *bytes = (const char *)from;
    uint32_t i;

    if (from->size < sizeof(from->size) || from->size > LIMITS_SIZE_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "the size of struct vial_limits is %" PRIu32 "; start from VIAL_LIMITS_INIT",
            from->size);
    }
    for (i = sizeof(*from); i < from->size; i++) {
        if (bytes[i] != 0) {
            return vial__fail(err, VIAL_E_INVALID,
                "struct vial_limits sets a limit at byte %" PRIu32
                " that this version of libvial, which knows %zu bytes, cannot enforce",
                i, sizeof(*from));
        }
    }
    return VIAL_OK;
}

/* Whether a struct of that size has all of the row's member. */
static int size_covers(uint32_t size, const struct limit_row *row)
{
    return row->offset + row->width <= size;
}

int limits_resolve(const struct vial_limits *from, struct vial_limits *ret, struct vial_error *err)
{
    static const struct vial_limits all_default = VIAL_LIMITS_INIT;
    struct vial_limits resolved = VIAL_LIMITS_INIT;
    uint64_t value;
    size_t i;
    int r;

    if (from == NULL) {
        from = &all_default;
    }
    r = check_size(from, err);
    for (i = 0; i < ROW_COUNT && r == VIAL_OK; i++) {
        value = size_covers(from->size, &rows[i]) ? limits_get(from, &rows[i]) : 0;
        value = value != 0 ? value : rows[i].by_default;
        r = check_range(&rows[i], value, err);
        if (r == VIAL_OK) {
            limits_put(&resolved, &rows[i], value);
        }
    }
    if (r < 0) {
        return r;
    }
    *ret = resolved;
    return VIAL_OK;
}

int vial_limits_resolve(struct vial_limits *limits, struct vial_error *err)
{
    struct vial_limits resolved;
    size_t i;
    int r;

    if (limits == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "there are no limits to resolve: limits is NULL");
    }
    r = limits_resolve(limits, &resolved, err);
    if (r < 0) {
        return r;
    }
    for (i = 0; i < ROW_COUNT; i++) {
        if (size_covers(limits->size, &rows[i])) {
            limits_put(limits, &rows[i], limits_get(&resolved, &rows[i]));
        }
    }
    return VIAL_OK;
}
