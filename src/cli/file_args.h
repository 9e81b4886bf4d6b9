/* file_args.h - the files of `vial run`: read before it starts, written after it ended. */
#ifndef VIAL_CLI_FILE_ARGS_H
#define VIAL_CLI_FILE_ARGS_H

#include "cli/cli.h"
#include "vial.h"

/* Files in the caller's memory, on their way into a run. */
struct file_args {
    struct vial_file *items; /* with names and bytes that are ours */
    size_t count;
    size_t capacity;
    uint64_t bytes;
    unsigned skipped; /* links and special files in directories */
};

/* Reads what one --file SRC[:DST] names: a file, or a directory with everything in it. limits say
 * how much there may be and are resolved. 0, or an exit code after a message. */
int file_args_read(struct file_args *files, const char *spec, const struct vial_limits *limits);
void file_args_release(struct file_args *files);

/* Writes one file beneath a directory, never through a link, and over what is there only by force.
 * 0, or an exit code after a message. */
int file_args_write_one(const struct vial_file *file, int dir, const char *dir_name, int force);

/* Writes the files of a result beneath a directory, never through a link. 0, or an exit code after
 * messages; files that can be written are, whatever happens to the others. */
int file_args_write(const struct vial_result *result, int dir, const char *dir_name, int force);

#endif
