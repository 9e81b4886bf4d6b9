/* approve.c - see approve.h. */
#include "cli/approve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/report.h"
#include "cli/watch.h"

enum {
    ANSWER_BYTES_MAX = 64,
    ARGS_SHOWN_BYTES = 2000, /* more does not fit onto a screen anyway */
};

static enum approve_mode mode = APPROVE_ASK;

int approve_mode_of(const char *name)
{
    static const char *const names[] = {"ask", "yes", "no"};
    int i;

    for (i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

void approve_set_mode(enum approve_mode wanted)
{
    mode = wanted;
}

static void show(const struct vial_call *call)
{
    char args[ARGS_SHOWN_BYTES + 1];
    size_t len = call->args_len < ARGS_SHOWN_BYTES ? call->args_len : ARGS_SHOWN_BYTES;

    memcpy(args, call->args, len);
    args[len] = '\0';
    watch_clear_status();
    (void)fputs("vial: the program wants to call ", stderr);
    report_safe(call->name);
    (void)fputs(" with ", stderr);
    if (call->args_is_cbor) {
        (void)fprintf(stderr, "%zu bytes of CBOR", call->args_len);
    } else {
        report_safe(args);
    }
    if (len < call->args_len) {
        (void)fprintf(stderr, "... (%zu bytes more)", call->args_len - len);
    }
    (void)fputs("\nvial: allow it? [y/N] ", stderr);
    (void)fflush(stderr);
}

int approve_call(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    char answer[ANSWER_BYTES_MAX] = "";
    ssize_t n;
    int tty;

    (void)engine;
    (void)user;
    if (mode != APPROVE_ASK) {
        return mode == APPROVE_YES ? VIAL_APPROVAL_YES : VIAL_APPROVAL_NO;
    }
    tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (tty < 0) {
        return VIAL_APPROVAL_NO;
    }
    show(call);
    n = read(tty, answer, sizeof(answer) - 1); /* short counts handled */
    fd_closep(&tty);
    return n > 0 && (answer[0] == 'y' || answer[0] == 'Y') ? VIAL_APPROVAL_YES : VIAL_APPROVAL_NO;
}
