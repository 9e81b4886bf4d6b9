/* frame.c - see frame.h. */
#include "wire/frame.h"

#include <string.h>

/* Which phase follows when a type arrives in a phase; what is not here is refused. */
struct transition {
    uint8_t phase;
    uint8_t type;
    uint8_t next;
};

static const struct transition TRANSITIONS[] = {
    {PHASE_BORN, FRAME_READY, PHASE_WAITING},
    {PHASE_BORN, FRAME_FAILED, PHASE_DONE},
    {PHASE_BORN, FRAME_CANARY, PHASE_DONE},
    {PHASE_BORN, FRAME_BORN, PHASE_JOINING},
    {PHASE_JOINING, FRAME_READY, PHASE_WAITING},
    {PHASE_WAITING, FRAME_UNBORN, PHASE_WAITING},
    {PHASE_RUNNING, FRAME_STDOUT, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_STDERR, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_CALL, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_ARTIFACT, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_DENIED, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_FINDINGS, PHASE_RUNNING},
    {PHASE_RUNNING, FRAME_RESULT, PHASE_DONE},
    {PHASE_RUNNING, FRAME_FILE, PHASE_FILES},
    {PHASE_FILES, FRAME_FILE, PHASE_FILES},
    {PHASE_FILES, FRAME_RESULT, PHASE_DONE},
};

static uint64_t frame_len_max(uint8_t type, const struct frame_limits *limits)
{
    switch (type) {
    case FRAME_STDOUT:
    case FRAME_STDERR:
        return FRAME_OUTPUT_BYTES_MAX;
    case FRAME_UNBORN:
        return sizeof(struct branch_refusal) - FRAME_HEADER_BYTES;
    case FRAME_FAILED:
    case FRAME_CANARY:
        return FRAME_SMALL_BYTES_MAX;
    case FRAME_FILE:
        return FRAME_FILE_BYTES_MAX;
    case FRAME_ARTIFACT:
        return FRAME_ARTIFACT_BYTES_MAX;
    case FRAME_DENIED:
        return FRAME_DENIED_BYTES_MAX;
    case FRAME_FINDINGS:
        return FRAME_FINDINGS_BYTES_MAX;
    case FRAME_RESULT: /* the value and, at most as long, its rendering */
        return 2 * limits->value_bytes_max + FRAME_RESULT_EXTRA_BYTES;
    case FRAME_CALL:
        return limits->call_bytes_max + sizeof(struct call_head);
    default:
        return 0;
    }
}

int frame_accept(
    enum frame_phase *phase, const struct frame_header *header, const struct frame_limits *limits)
{
    size_t i;

    if (header->zero[0] != 0 || header->zero[1] != 0 || header->zero[2] != 0 ||
        header->len > frame_len_max(header->type, limits)) {
        return -1;
    }
    for (i = 0; i < sizeof(TRANSITIONS) / sizeof(TRANSITIONS[0]); i++) {
        if (TRANSITIONS[i].phase == *phase && TRANSITIONS[i].type == header->type) {
            *phase = TRANSITIONS[i].next;
            return 0;
        }
    }
    return -1;
}

int frame_next(const struct buf *in, size_t *at, enum frame_phase *phase,
    const struct frame_limits *limits, struct frame *ret)
{
    struct frame_header header;
    enum frame_phase next = *phase;

    if (in->len - *at < FRAME_HEADER_BYTES) {
        return 0;
    }
    memcpy(&header, in->data + *at, sizeof(header));
    if (frame_accept(&next, &header, limits) < 0) {
        return -1;
    }
    if (in->len - *at - FRAME_HEADER_BYTES < header.len) {
        return 0;
    }
    *phase = next;
    *ret = (struct frame){
        .type = header.type, .payload = in->data + *at + FRAME_HEADER_BYTES, .len = header.len};
    *at += FRAME_HEADER_BYTES + header.len;
    return 1;
}
