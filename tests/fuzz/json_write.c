/* json_write.c - whatever is written is JSON, on one line, with nothing that a terminal obeys. */
#include "base/json.h"
#include "fuzz.h"

enum { OUT_MAX = 1 << 20 };

/* One step of a document: keys where they are due, anything else where it may be. */
static void write_one(struct json_writer *w, struct fuzz_input *in)
{
    unsigned what = fuzz_byte(in);
    unsigned n = fuzz_byte(in);
    size_t len = n < in->left ? n : in->left;
    const char *bytes = in->at;

    in->at += len;
    in->left -= len;
    switch (what % 7) {
    case 0:
        json_write_string(w, bytes, len);
        break;
    case 1:
        json_base64(w, bytes, len);
        break;
    case 2:
        json_u64(w, n * 0x0101010101010101ULL);
        break;
    case 3:
        json_i64(w, (int64_t)(n * 0x0101010101010101ULL));
        break;
    case 4:
        json_bool(w, (int)n);
        break;
    case 5:
        json_write_null(w);
        break;
    default:
        if (json_check(bytes, len, 100, NULL) == 0 && memchr(bytes, '\n', len) == NULL &&
            memchr(bytes, '\r', len) == NULL && memchr(bytes, '\t', len) == NULL &&
            memchr(bytes, 0x7f, len) == NULL) {
            json_raw(w, bytes, len);
        } else {
            json_write_null(w);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct json_writer w;
    char key[8];
    struct buf out;
    unsigned depth = 1, steps = 0;
    uint32_t objects = 0;
    unsigned what;
    size_t i;

    buf_init(&out, OUT_MAX);
    json_init(&w, &out, NULL);
    json_begin_array(&w);
    while (in.left > 0 && steps++ < 200) {
        what = fuzz_byte(&in);
        if (what % 8 == 7 && depth > 1) {
            depth--;
            if ((objects & 1U << depth) != 0) {
                json_end_object(&w);
            } else {
                json_end_array(&w);
            }
            objects &= ~(1U << depth);
            continue;
        }
        if ((objects & 1U << (depth - 1)) != 0 && depth > 1) {
            for (i = 0; i + 1 < sizeof(key); i++) {
                key[i] = (char)fuzz_byte(&in);
            }
            key[i] = '\0';
            json_key(&w, key);
        }
        if (what % 8 >= 5 && depth < 20) {
            if (what % 2 == 0) {
                json_begin_object(&w);
            } else {
                json_begin_array(&w);
            }
            objects |= what % 2 == 0 ? 1U << depth : 0;
            depth++;
            continue;
        }
        write_one(&w, &in);
    }
    while (depth > 1) {
        depth--;
        if ((objects & 1U << depth) != 0) {
            json_end_object(&w);
        } else {
            json_end_array(&w);
        }
    }
    json_end_array(&w);
    if (json_finish(&w) == 0) {
        FUZZ_CHECK(
            json_check(out.data, out.len, 512, NULL) == 0, "it is not JSON: %.200s", out.data);
        for (i = 0; i < out.len; i++) {
            FUZZ_CHECK((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f,
                "it holds the control character %d", out.data[i]);
        }
    } else {
        FUZZ_CHECK(out.len == 0, "a failure left something behind");
    }
    buf_release(&out);
    return 0;
}
