/* start.c - see start.h. */
#include "cell/start.h"

#include <string.h>

#include "vial.h"
#include "wire/field.h"

static struct guest_module modules[VIAL_MODULES_MAX];

/* Fields that are numbers, and where they go. */
static const struct {
    uint8_t tag;
    size_t offset;
} NUMBERS[] = {
    {FIELD_WANT_TEXT, offsetof(struct guest_start, want_text)},
    {FIELD_TIMERS_MAX, offsetof(struct guest_start, timers_max)},
    {FIELD_VALUE_MAX, offsetof(struct guest_start, value_bytes_max)},
    {FIELD_KIND, offsetof(struct guest_start, kind)},
    {FIELD_LANGUAGE, offsetof(struct guest_start, language)},
    {FIELD_CALL_BYTES_MAX, offsetof(struct guest_start, call_bytes_max)},
    {FIELD_NET, offsetof(struct guest_start, request_bytes_max)},
    {FIELD_SESSION, offsetof(struct guest_start, session)},
    {FIELD_ENTRY_MAIN, offsetof(struct guest_start, entry_is_main)},
    {FIELD_FUNCTION, offsetof(struct guest_start, function)},
    {FIELD_RELEASE, offsetof(struct guest_start, release)},
    {FIELD_COMPLETE, offsetof(struct guest_start, complete)},
    {FIELD_SCAN, offsetof(struct guest_start, scan)},
};

/* 1 when it is one of these, 0 when not, -1 when it is malformed. */
static int take_number(const struct field *f, struct guest_start *start)
{
    uint32_t v = 0;
    size_t i;

    for (i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        if (NUMBERS[i].tag == f->tag) {
            if (field_u32(f, &v) < 0) {
                return -1;
            }
            memcpy((char *)start + NUMBERS[i].offset, &v, sizeof(v));
            return 1;
        }
    }
    return 0;
}

static void take_text(const struct field *f, const char **ret, size_t *ret_len)
{
    *ret = f->bytes;
    *ret_len = f->len;
}

/* A module's name or its source, which come one behind the other. */
static int take_module(const struct field *f, struct guest_start *start)
{
    struct guest_module *module;

    if (f->tag == FIELD_MODULE_NAME) {
        if (start->module_count == VIAL_MODULES_MAX) {
            return -1;
        }
        modules[start->module_count++] =
            (struct guest_module){.name = f->bytes, .name_len = f->len};
        start->modules = modules;
        return 0;
    }
    if (start->module_count == 0) {
        return -1;
    }
    module = &modules[start->module_count - 1];
    module->source = f->bytes;
    module->source_len = f->len;
    return 0;
}

/* How much the run may have of files; that it may have any is said by the number of them. -1 when
 * the field is none of these. */
static int take_limit(const struct field *f, struct memfs *files, struct guest_start *start,
    struct memfs_limits *limits)
{
    switch (f->tag) {
    case FIELD_FILES_MAX:
        start->files = files;
        return field_u32(f, &limits->files_max);
    case FIELD_DISK_MAX:
        return field_u64(f, &limits->bytes_max);
    case FIELD_OPEN_FILES_MAX:
        return field_u32(f, &limits->open_max);
    default:
        return -1;
    }
}

static int take_field(const struct field *f, struct memfs *files, struct guest_start *start,
    struct memfs_limits *limits)
{
    int r = take_number(f, start);

    if (r != 0) {
        return r;
    }
    switch (f->tag) {
    case FIELD_NAME:
        take_text(f, &start->name, &start->name_len);
        return 0;
    case FIELD_SOURCE:
        take_text(f, &start->source, &start->source_len);
        return 0;
    case FIELD_INPUT_CBOR:
        start->input_is_cbor = 1;
        take_text(f, &start->input, &start->input_len);
        return 0;
    case FIELD_INPUT:
        take_text(f, &start->input, &start->input_len);
        return 0;
    case FIELD_STDIN:
        take_text(f, &start->stdin_bytes, &start->stdin_len);
        return 0;
    case FIELD_GLOBALS:
        take_text(f, &start->globals, &start->globals_len);
        return 0;
    case FIELD_TOOL:
        start->tools_count++;
        return 0;
    case FIELD_ALLOWED_IMPORT:
    case FIELD_CLOCK:
    case FIELD_CWD_DENIED:
    case FIELD_CWD_DENIED_BY:
    case FIELD_ENV_GONE:
    case FIELD_FS_RULE:
    case FIELD_FS_RULES:
    case FIELD_RANDOM:
    case FIELD_ENV:
    case FIELD_MOUNT:
    case FIELD_ARG:
    case FIELD_CWD:
    case FIELD_OUT:
    case FIELD_SCAN_RULES_NAME:
    case FIELD_SCAN_RULES:
        return 0; /* read where they are needed */
    case FIELD_MODULE_NAME:
    case FIELD_MODULE_SOURCE:
        return take_module(f, start);
    default:
        return take_limit(f, files, start, limits);
    }
}

int start_parse(const char *payload, size_t len, struct memfs *files, struct guest_start *start,
    struct memfs_limits *limits)
{
    struct field f;
    size_t at = 0;
    int r;

    memset(start, 0, sizeof(*start));
    start->fields = payload;
    start->fields_len = len;
    while ((r = field_next(payload, len, &at, &f)) == 1) {
        if (take_field(&f, files, start, limits) < 0) {
            return -1;
        }
    }
    return r < 0 || start->source == NULL || start->name == NULL ? -1 : 0;
}
