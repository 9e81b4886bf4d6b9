/* base64.c - bytes as text and back: what is read is written the same way, and the other way
 * round. */
#include "base/base64.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char *bytes = malloc(BASE64_DECODED_MAX(size) + 1);
    char *again = malloc(BASE64_ENCODED_BYTES(size) + 1);
    char *back = malloc(size + 3);
    size_t len = 0;

    FUZZ_CHECK(bytes != NULL && again != NULL && back != NULL, "there is no memory");
    if (base64_decode(text, size, bytes, &len) == NULL) {
        FUZZ_CHECK(len <= BASE64_DECODED_MAX(size), "%zu bytes out of %zu", len, size);
        FUZZ_CHECK(BASE64_ENCODED_BYTES(len) == size, "there are two forms");
        base64_encode(bytes, len, again);
        FUZZ_CHECK(size == 0 || memcmp(again, text, size) == 0, "there are two forms");
    }
    base64_encode(text, size, again);
    FUZZ_CHECK(base64_decode(again, BASE64_ENCODED_BYTES(size), back, &len) == NULL,
        "what was written cannot be read");
    FUZZ_CHECK(len == size && (size == 0 || memcmp(back, text, size) == 0), "it is another text");
    free(bytes);
    free(again);
    free(back);
    return 0;
}
