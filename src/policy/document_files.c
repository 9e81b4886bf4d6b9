/* document_files.c - what runs in an environment find around them: variables, a directory, files
 * and mounts; see document.h.
 *
 * All names are beneath /home/vial. A mount shows a directory of the host there, so no other name
 * may lie within one, and directories that are doors to the kernel are not mounted at all. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/name.h"
#include "policy/document_check.h"
#include "policy/document_name.h"
#include "policy/process.h"

void document_check_env(struct document_check *c, json_t *value)
{
    size_t bytes = 0, i;

    if (value == NULL || !must_be_object(c, value, PROCESS_STRINGS_MAX, "variables")) {
        return;
    }
    check_pairs(c, value, "=", PROCESS_STRINGS_BYTES_MAX, variable_name_fault, NULL, &c->doc->env);
    for (i = 0; i < c->doc->env.count; i++) {
        bytes += strlen(c->doc->env.items[i]) + 1;
    }
    if (bytes > PROCESS_STRINGS_BYTES_MAX) {
        check_say(c, "the variables have %zu bytes; they may have up to %d", bytes,
            PROCESS_STRINGS_BYTES_MAX);
    }
}

/* The name beneath /home/vial that a path means, owned by the caller; NULL, and said, when it means
 * none. The directory itself is "", and only when that is allowed. */
static char *check_path(struct document_check *c, const char *path, int top_allowed)
{
    size_t len = 0;
    const char *beneath = name_beneath(path, strlen(path), FILE_NAME_ROOT, &len);
    const char *fault = beneath == NULL           ? "is not inside of " FILE_NAME_ROOT
                        : len == 0 && top_allowed ? NULL
                                                  : name_fault(beneath, len);
    char *name;

    if (fault != NULL) {
        check_say(c, "the name %s", fault);
        return NULL;
    }
    name = strndup(beneath, len);
    if (name == NULL) {
        check_no_memory(c);
    }
    return name;
}

void document_check_cwd(struct document_check *c, const json_t *root)
{
    size_t before;

    c->doc->cwd = check_member(c, root, "cwd", FILE_NAME_BYTES_MAX);
    if (c->doc->cwd != NULL) {
        before = check_enter(c, "cwd");
        free(check_path(c, c->doc->cwd, 1));
        if (!c->doc->files_allowed) {
            check_say(c, "needs the files that /permissions/fs takes away");
        }
        check_leave(c, before);
    }
}

/* ---- files ---- */

static void check_base64(struct document_check *c, json_t *value, struct document_file *file)
{
    static const char *const known[] = {"base64", NULL};
    const json_t *text = json_object_get(value, "base64");
    const char *fault;
    size_t before;

    check_keys(c, value, known);
    if (!json_is_string(text)) {
        check_say(c, "must be a string, or an object with the string \"base64\"");
        return;
    }
    before = check_enter(c, "base64");
    file->bytes = malloc(BASE64_DECODED_MAX(json_string_length(text)) + 1);
    if (file->bytes == NULL) {
        check_no_memory(c);
    } else {
        fault = base64_decode(
            json_string_value(text), json_string_length(text), file->bytes, &file->len);
        if (fault != NULL) {
            check_say(c, "the text %s", fault);
        }
    }
    check_leave(c, before);
}

static void check_content(struct document_check *c, json_t *value, struct document_file *file)
{
    if (json_is_object(value)) {
        check_base64(c, value, file);
        return;
    }
    if (!json_is_string(value)) {
        check_say(c, "must be a string, or an object with the string \"base64\"");
        return;
    }
    file->len = json_string_length(value);
    file->bytes = malloc(file->len + 1);
    if (file->bytes == NULL) {
        check_no_memory(c);
        return;
    }
    memcpy(file->bytes, json_string_value(value), file->len + 1);
}

/* Is name the same as above or within it? */
static int is_within(const char *name, const char *above)
{
    size_t len = strlen(above);

    return strncmp(name, above, len) == 0 && (name[len] == '\0' || name[len] == '/');
}

static int compare_files(const void *a, const void *b)
{
    const char *x = ((const struct document_file *)a)->name;
    const char *y = ((const struct document_file *)b)->name;

    for (; *x == *y && *x != '\0'; x++, y++) {
    }
    if (*x == '/' || *y == '/') { /* what is within a name stands right behind it */
        return *x == *y ? 0 : *y == '\0' || (*x != '\0' && *y == '/') ? 1 : -1;
    }
    return (unsigned char)*x < (unsigned char)*y ? -1 : *x != *y;
}

/* Sorts the files and finds those that lie within another one, or have its name in another form. */
static void check_nesting(struct document_check *c)
{
    struct document *doc = c->doc;
    size_t i, above = 0, before;

    qsort(doc->files, doc->files_count, sizeof(*doc->files), compare_files);
    for (i = 1; i < doc->files_count; i++) {
        if (is_within(doc->files[i].name, doc->files[above].name)) {
            before = check_enter(c, doc->files[i].name);
            check_say(c, "lies within the file %.200s, or is the same", doc->files[above].name);
            check_leave(c, before);
        } else {
            above = i;
        }
    }
}

void document_check_files(struct document_check *c, json_t *value)
{
    struct document *doc = c->doc;
    const char *path;
    json_t *content;
    size_t before;

    if (value == NULL || !must_be_object(c, value, DOCUMENT_VALUES_MAX, "files")) {
        return;
    }
    if (!doc->files_allowed && json_object_size(value) > 0) {
        check_say(c, "needs the files that /permissions/fs takes away");
    }
    doc->files = check_array_new(c, json_object_size(value), sizeof(*doc->files));
    json_object_foreach(value, path, content)
    {
        struct document_file file = {.name = NULL};

        before = check_enter(c, path);
        file.name = check_path(c, path, 0);
        check_content(c, content, &file);
        if (file.name != NULL && doc->files != NULL) {
            doc->files[doc->files_count++] = file;
        } else {
            free(file.name);
            free(file.bytes);
        }
        check_leave(c, before);
    }
    if (doc->files_count > 1) {
        check_nesting(c);
    }
}

/* ---- mounts ---- */

/* Directories through which a program reaches the kernel or devices instead of files. Read-only
 * does not change what they are. The whole root has all of them in it. */
static const char *const DOORS[] = {"/dev", "/proc", "/sys"};

static const char *host_directory_fault(const char *path)
{
    const char *fault;
    size_t len = strlen(path), i;

    if (path[0] != '/') {
        return "must be an absolute path of the host";
    }
    while (len > 1 && path[len - 1] == '/') {
        len--;
    }
    if (len == 1) {
        return "is the root of the host, which has more in it than files";
    }
    fault = name_fault(path + 1, len - 1);
    for (i = 0; i < sizeof(DOORS) / sizeof(DOORS[0]) && fault == NULL; i++) {
        if (is_within(path, DOORS[i])) {
            fault = "is in /dev, /proc or /sys, which are doors to the kernel and not files";
        }
    }
    return fault;
}

static void check_mount(
    struct document_check *c, const char *path, json_t *value, struct document_mount *mount)
{
    static const char *const known[] = {"from", NULL};
    const char *fault;
    size_t before;

    mount->name = check_path(c, path, 0);
    if (!must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    if (json_object_get(value, "from") == NULL) {
        check_say(c, "the key \"from\" is missing");
        return;
    }
    mount->from = check_member(c, value, "from", FILE_NAME_BYTES_MAX);
    fault = mount->from != NULL ? host_directory_fault(mount->from) : NULL;
    if (fault != NULL) {
        before = check_enter(c, "from");
        check_say(c, "the directory %s", fault);
        check_leave(c, before);
    }
}

/* What mount number index lies within or has within it: another mount, a file, or NULL. */
static const char *overlap(const struct document *doc, size_t index)
{
    const char *name = doc->mounts[index].name;
    size_t i;

    for (i = 0; i < doc->mounts_count; i++) {
        const char *other = doc->mounts[i].name;

        if (i != index && name != NULL && other != NULL &&
            (is_within(name, other) || is_within(other, name))) {
            return other;
        }
    }
    for (i = 0; i < doc->files_count && name != NULL; i++) {
        if (is_within(doc->files[i].name, name) || is_within(name, doc->files[i].name)) {
            return doc->files[i].name;
        }
    }
    return NULL;
}

void document_check_mounts(struct document_check *c, json_t *value)
{
    struct document *doc = c->doc;
    const char *path, *other;
    json_t *mount;
    size_t before, i = 0;

    if (value == NULL || !must_be_object(c, value, DOCUMENT_MOUNTS_MAX, "mounts")) {
        return;
    }
    if (!doc->files_allowed && json_object_size(value) > 0) {
        check_say(c, "needs the files that /permissions/fs takes away");
    }
    doc->mounts = check_array_new(c, json_object_size(value), sizeof(*doc->mounts));
    if (doc->mounts == NULL) {
        return;
    }
    doc->mounts_count = json_object_size(value);
    json_object_foreach(value, path, mount)
    {
        before = check_enter(c, path);
        check_mount(c, path, mount, &doc->mounts[i++]);
        check_leave(c, before);
    }
    i = 0;
    json_object_foreach(value, path, mount)
    {
        other = overlap(doc, i++);
        before = check_enter(c, path);
        if (other != NULL) {
            check_say(c, "overlaps with %.200s", other);
        }
        check_leave(c, before);
    }
}

/* ---- room ---- */

/* What each run begins with must fit into the limits that it has by default. The files of a run are
 * judged by policy/process, and these are judged by it too. */
void document_check_room(struct document_check *c)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    const struct document *doc = c->doc;
    struct vial_file *files = check_array_new(c, doc->files_count, sizeof(*files));
    struct vial_error err;
    size_t i, before;

    for (i = 0; i < doc->files_count && files != NULL; i++) {
        files[i] = (struct vial_file){
            .name = doc->files[i].name, .bytes = doc->files[i].bytes, .len = doc->files[i].len};
    }
    request.files = files;
    request.files_count = files != NULL ? doc->files_count : 0;
    request.env = doc->env.items;
    request.env_count = doc->env.count;
    request.cwd = doc->cwd;
    if (process_check(&request, &doc->limits, &err) < 0) {
        before = check_enter(c, "files");
        check_say(c, "%s", err.text);
        check_leave(c, before);
    }
    free(files);
}
