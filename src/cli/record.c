/* record.c - see record.h. What is in the file is made by host/recording.c. */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "host/catalog.h"
#include "host/recording.h"

/* Makes the text. 0, or an exit code. */
static int make(const struct vial_request *q, const struct run_env *e, int no_jit,
    struct vial_result *result, char **ret, size_t *ret_len)
{
    struct recording_parts parts = {.request = q,
        .document = e->document,
        .document_len = e->document_len,
        .no_jit = no_jit,
        .bytes_max = RECORDING_BYTES_MAX};
    struct document *doc = NULL;
    struct vial_error err = {.code = 0};
    struct buf report;
    int r = VIAL_OK;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (e->document != NULL) {
        r = catalog_parse(e->document, e->document_len, &doc, &report, &err);
        parts.rules = doc != NULL ? &doc->audit : NULL;
    }
    r = r < 0 ? r : recording_write(&parts, result, ret, ret_len, &err);
    document_free(doc);
    buf_release(&report);
    return r < 0 ? cli_fail(EXIT_OUR_FAILURE, "the run cannot be recorded: %s", err.text) : 0;
}

int record_write(const char *path, const struct vial_request *q, const struct run_env *e,
    int no_jit, struct vial_result *result)
{
    char *text = NULL;
    size_t len = 0;
    int fd, code = make(q, e, no_jit, result, &text, &len);

    if (code != 0) {
        return code;
    }
    /* Programs, their input and what tools answered are nobody else's business. */
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, text, len) < 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "cannot write %s: %s", path, strerrordesc_np(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(text);
    return code;
}
