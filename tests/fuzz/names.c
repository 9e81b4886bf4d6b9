/* names.c - names of files and MIME types: a name that is taken is what it says it is. */
#include "base/mime.h"
#include "base/name.h"
#include "base/utf8.h"
#include "fuzz.h"

/* Reads a name part by part, by the words of name.h. */
static int naive_name(const char *name, size_t len)
{
    size_t at = 0, parts = 0, i;

    if (len == 0 || len > FILE_NAME_BYTES_MAX || !utf8_valid(name, len, NULL)) {
        return 0;
    }
    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];

        /* The second control characters are 0x80 to 0x9f, which UTF-8 has behind 0xc2. */
        if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)name[i + 1] < 0xa0)) {
            return 0;
        }
    }
    while (at <= len) {
        for (i = at; i < len && name[i] != '/'; i++) {
        }
        if (i == at || i - at > FILE_NAME_PART_BYTES_MAX || (i - at == 1 && name[at] == '.') ||
            (i - at == 2 && name[at] == '.' && name[at + 1] == '.')) {
            return 0;
        }
        parts++;
        at = i + 1;
    }
    return parts <= FILE_NAME_PARTS_MAX;
}

static void check_mime(const char *mime, size_t len)
{
    char text[MIME_BYTES_MAX + 1];
    size_t i, slashes = 0;

    if (mime_fault(mime, len) != NULL) {
        return;
    }
    FUZZ_CHECK(len >= 3 && len <= MIME_BYTES_MAX, "a type of %zu bytes", len);
    for (i = 0; i < len; i++) {
        /* Nothing that ends a header, a quoted string or a tag. */
        FUZZ_CHECK(
            mime[i] > 0x20 && mime[i] < 0x7f && strchr("\"<>\\,;:()[]{}=?@'", mime[i]) == NULL,
            "the character %d in a type", mime[i]);
        slashes += mime[i] == '/';
    }
    FUZZ_CHECK(slashes == 1 && mime[0] != '/' && mime[len - 1] != '/', "it is not type/subtype");
    memcpy(text, mime, len);
    text[len] = '\0';
    (void)mime_is_text(text);
    FUZZ_CHECK(name_part_fault(mime_extension(text), strlen(mime_extension(text))) == NULL,
        "the end of a file's name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *name = (const char *)data;
    const char *fault = name_fault(name, size);
    const char *beneath;
    size_t len = 0;

    FUZZ_CHECK((fault == NULL) == naive_name(name, size), "the name %s",
        fault != NULL ? fault : "is fine");
    fault = name_part_fault(name, size);
    FUZZ_CHECK(fault != NULL || (naive_name(name, size) && memchr(name, '/', size) == NULL &&
                                    size <= FILE_NAME_PART_BYTES_MAX),
        "it is not one part");
    beneath = name_beneath(name, size, FILE_NAME_ROOT, &len);
    if (beneath != NULL) {
        FUZZ_CHECK(beneath >= name && beneath + len <= name + size, "a name beside the path");
        FUZZ_CHECK(len == 0 || beneath[0] != '/', "an absolute name beneath a directory");
    }
    check_mime(name, size);
    return 0;
}
