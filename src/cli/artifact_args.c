/* artifact_args.c - see artifact_args.h.
 *
 * Names of files are made here, of numbers and of types that the library has checked. What a
 * program calls its artifacts is shown, and is no part of any path. */
#include "cli/artifact_args.h"

#include <stdio.h>
#include <string.h>

#include "base/mime.h"
#include "cli/cli.h"
#include "cli/file_args.h"

/* Bytes as people read them; static. */
static const char *size_text(size_t bytes)
{
    static char text[32];

    if (bytes < 1000) {
        (void)snprintf(text, sizeof(text), "%zu B", bytes);
    } else if (bytes < (size_t)1000 * 1000) {
        (void)snprintf(text, sizeof(text), "%.1f kB", (double)bytes / 1e3);
    } else {
        (void)snprintf(text, sizeof(text), "%.1f MB", (double)bytes / 1e6);
    }
    return text;
}

/* Has an earlier representation of the artifact the same end of its name? */
static int is_taken(const struct vial_result *result, size_t artifact, size_t index)
{
    struct vial_representation mine = VIAL_REPRESENTATION_INIT;
    struct vial_representation other = VIAL_REPRESENTATION_INIT;
    size_t i;

    for (i = 0; i < index; i++) {
        if (vial_result_representation(result, artifact, index, &mine) == 0 &&
            vial_result_representation(result, artifact, i, &other) == 0 &&
            strcmp(mime_extension(mine.mime), mime_extension(other.mime)) == 0) {
            return 1;
        }
    }
    return 0;
}

static int save_one(const struct vial_result *result, size_t artifact, size_t index, int dir,
    const char *dir_name, int force)
{
    struct vial_representation part = VIAL_REPRESENTATION_INIT;
    struct vial_file file = {.name = NULL};
    char name[80];
    int code;

    if (vial_result_representation(result, artifact, index, &part) < 0) {
        return 0;
    }
    if (is_taken(result, artifact, index)) { /* two kinds of text, say */
        (void)snprintf(name, sizeof(name), "artifact-%zu-%zu.%s", artifact + 1, index + 1,
            mime_extension(part.mime));
    } else {
        (void)snprintf(
            name, sizeof(name), "artifact-%zu.%s", artifact + 1, mime_extension(part.mime));
    }
    file.name = name;
    file.bytes = part.bytes;
    file.len = part.len;
    code = file_args_write_one(&file, dir, dir_name, force);
    if (code == 0) {
        (void)fprintf(stderr, "vial: saved %s (%s)\n", name, size_text(part.len));
    }
    return code;
}

int artifact_args_save(const struct vial_result *result, int dir, const char *dir_name, int force)
{
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    size_t i, k;
    int code = 0, r;

    for (i = 0; vial_result_artifact(result, i, &artifact) == 0; i++) {
        for (k = 0; k < artifact.representation_count; k++) {
            r = save_one(result, i, k, dir, dir_name, force);
            code = code != 0 ? code : r;
        }
    }
    return code;
}

void artifact_args_hint(const struct vial_result *result)
{
    size_t count = vial_result_artifact_count(result);

    if (count > 0) {
        (void)fprintf(stderr, "vial: the program showed %zu artifact%s; --out-dir DIR saves %s\n",
            count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
    }
}

void artifact_args_list(const struct vial_result *result)
{
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    struct vial_representation part = VIAL_REPRESENTATION_INIT;
    size_t i, k;

    for (i = 0; vial_result_artifact(result, i, &artifact) == 0; i++) {
        (void)fprintf(stderr, "[artifact %zu", i + 1);
        if (artifact.name != NULL) { /* without control characters: the library has looked */
            (void)fprintf(stderr, " %s", artifact.name);
        }
        for (k = 0; vial_result_representation(result, i, k, &part) == 0; k++) {
            (void)fprintf(stderr, "%s %s, %s", k == 0 ? ":" : ";", part.mime, size_text(part.len));
        }
        (void)fprintf(stderr, "]\n");
    }
}

void artifact_args_dropped(const struct vial_result *result)
{
    uint64_t dropped = vial_result_artifacts_dropped(result);

    if (dropped > 0) {
        (void)fprintf(stderr,
            "vial: %llu artifact%s dropped: a program may show up to 100, with 16 MiB in all\n",
            (unsigned long long)dropped, dropped == 1 ? " was" : "s were");
    }
}
