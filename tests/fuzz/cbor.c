/* cbor.c - values that come as CBOR: what is taken becomes JSON, what is refused leaves nothing. */
#include "value/cbor.h"

#include "base/json.h"
#include "fuzz.h"

/* A byte becomes some ten of JSON at most; a text that is all control characters six. */
enum { OUT_MAX = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct vial_error err = {.code = 0};
    struct buf out;
    int checked = value_cbor_check(bytes, size, &err);
    int r;

    FUZZ_CHECK(checked == 0 || err.text[0] != '\0', "there is no reason");
    buf_init(&out, OUT_MAX);
    r = value_cbor_to_json(bytes, size, &out, &err);
    FUZZ_CHECK(r == checked, "the check says %d, the reader %d: %s", checked, r, err.text);
    if (r == 0) {
        FUZZ_CHECK(json_check(out.data, out.len, JSON_CHECK_DEPTH_MAX, NULL) == 0,
            "it is not JSON: %.300s", out.data);
    } else {
        FUZZ_CHECK(out.len == 0, "a failure left something behind");
    }
    buf_release(&out);
    return 0;
}
