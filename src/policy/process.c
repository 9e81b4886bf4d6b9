/* process.c - see process.h. */
#include "policy/process.h"

#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/name.h"
#include "base/utf8.h"

enum { PAGE = 4096 }; /* what a cell gives files room by */

/* A list of strings: not too many, not too long, UTF-8. */
static int check_strings(const char *what, const char *const *list, size_t count, size_t *ret_bytes,
    struct vial_error *err)
{
    size_t i, n;

    *ret_bytes = 0;
    if (count > PROCESS_STRINGS_MAX || (count > 0 && list == NULL)) {
        return vial__fail(
            err, VIAL_E_INVALID, "there may be up to %d %ss", PROCESS_STRINGS_MAX, what);
    }
    for (i = 0; i < count; i++) {
        n = list[i] != NULL ? strlen(list[i]) : 0;
        *ret_bytes += n + 1;
        if (list[i] == NULL || !utf8_valid(list[i], n, NULL)) {
            return vial__fail(err, VIAL_E_INVALID, "%s %zu is not UTF-8", what, i + 1);
        }
        if (*ret_bytes > PROCESS_STRINGS_BYTES_MAX) {
            return vial__fail(err, VIAL_E_INVALID, "the %ss have more than %d bytes", what,
                PROCESS_STRINGS_BYTES_MAX);
        }
    }
    return VIAL_OK;
}

static int check_env(const struct vial_request *q, struct vial_error *err)
{
    const char *equals;
    size_t i, bytes;
    int r = check_strings("environment variable", q->env, q->env_count, &bytes, err);

    for (i = 0; i < q->env_count && r == 0; i++) {
        equals = strchr(q->env[i], '=');
        if (equals == NULL || equals == q->env[i]) {
            r = vial__fail(err, VIAL_E_INVALID,
                "\"%.100s\" is no environment variable; give it as NAME=value", q->env[i]);
        }
    }
    return r;
}

static int check_file(const struct vial_file *file, struct vial_error *err)
{
    const char *name = file->name != NULL ? file->name : "";
    size_t len;
    const char *beneath = name_beneath(name, strlen(name), FILE_NAME_ROOT, &len);
    const char *fault = beneath != NULL ? name_fault(beneath, len) : "is not inside of /home/vial";

    if (fault != NULL) {
        return vial__fail(
            err, VIAL_E_INVALID, "a file cannot be called \"%.100s\": the name %s", name, fault);
    }
    if (file->len > 0 && file->bytes == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "the file %.100s has a length but no bytes", name);
    }
    return VIAL_OK;
}

static int check_files(
    const struct vial_request *q, const struct vial_limits *limits, struct vial_error *err)
{
    uint64_t room = 0;
    size_t i;
    int r;

    if (q->files_count > 0 && q->files == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "there is a number of files but no files");
    }
    if (q->files_count >= limits->files_max) { /* the directory itself is one */
        return vial__fail(err, VIAL_E_INVALID,
            "%zu files are more than the %u that --file-count (files_max) gives room for",
            q->files_count, limits->files_max);
    }
    for (i = 0; i < q->files_count; i++) {
        r = check_file(&q->files[i], err);
        if (r < 0) {
            return r;
        }
        if (q->files[i].len > limits->disk_bytes_max) {
            room = UINT64_MAX;
            break;
        }
        room += (q->files[i].len + PAGE - 1) / PAGE * PAGE;
    }
    if (room > limits->disk_bytes_max) {
        return vial__fail(err, VIAL_E_INVALID,
            "the files take more than the %llu bytes that --disk-mb (disk_bytes_max) gives room "
            "for",
            (unsigned long long)limits->disk_bytes_max);
    }
    return VIAL_OK;
}

static int check_outs(const struct vial_request *q, struct vial_error *err)
{
    const char *pattern, *fault;
    size_t i, len, bytes;
    int r = check_strings("pattern", q->outs, q->outs_count, &bytes, err);

    if (r == 0 && q->outs_count > GLOBS_MAX) {
        r = vial__fail(err, VIAL_E_INVALID, "there may be up to %d patterns", GLOBS_MAX);
    }
    for (i = 0; i < q->outs_count && r == 0; i++) {
        pattern = name_beneath(q->outs[i], strlen(q->outs[i]), FILE_NAME_ROOT, &len);
        fault = pattern != NULL ? glob_fault(pattern, len) : "is not inside of /home/vial";
        if (fault != NULL) {
            r = vial__fail(err, VIAL_E_INVALID,
                "\"%.100s\" cannot say which files to give back: the pattern %s", q->outs[i],
                fault);
        }
    }
    return r;
}

static int check_cwd(const struct vial_request *q, struct vial_error *err)
{
    const char *beneath, *fault = "is not inside of /home/vial";
    size_t len;

    if (q->cwd == NULL) {
        return VIAL_OK;
    }
    beneath = name_beneath(q->cwd, strlen(q->cwd), FILE_NAME_ROOT, &len);
    if (beneath != NULL) {
        fault = len == 0 ? NULL : name_fault(beneath, len);
    }
    return fault == NULL
               ? VIAL_OK
               : vial__fail(err, VIAL_E_INVALID,
                     "the working directory cannot be \"%.100s\": the name %s", q->cwd, fault);
}

static int needs_files(const struct vial_request *q)
{
    return q->files_count > 0 || q->outs_count > 0 || q->cwd != NULL;
}

int process_check(
    const struct vial_request *q, const struct vial_limits *limits, struct vial_error *err)
{
    size_t bytes;
    int r = check_env(q, err);

    r = r < 0 ? r : check_strings("argument", q->args, q->args_count, &bytes, err);
    r = r < 0 ? r : check_cwd(q, err);
    r = r < 0 ? r : check_outs(q, err);
    r = r < 0 ? r : check_files(q, limits, err);
    if (r < 0) {
        return r;
    }
    if (q->stdin_len > PROCESS_STDIN_BYTES_MAX || (q->stdin_len > 0 && q->stdin_bytes == NULL)) {
        return vial__fail(err, VIAL_E_INVALID, "standard input has %zu bytes; it may have up to %d",
            q->stdin_len, PROCESS_STDIN_BYTES_MAX);
    }
    if (q->files_mode > VIAL_FILES_OFF) {
        return vial__fail(err, VIAL_E_INVALID, "there is no files_mode %u", q->files_mode);
    }
    if (q->files_mode == VIAL_FILES_OFF && needs_files(q)) {
        return vial__fail(err, VIAL_E_INVALID,
            "files, outputs and a working directory need what --no-files (files_mode) takes away");
    }
    return VIAL_OK;
}
