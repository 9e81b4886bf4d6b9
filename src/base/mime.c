/* mime.c - see mime.h. */
#include "base/mime.h"

#include <string.h>

/* Types that programs show, and the ends of their files' names. */
static const struct {
    const char *mime, *extension;
} KNOWN[] = {
    {"application/geo+json", "geojson"},
    {"application/gzip", "gz"},
    {"application/javascript", "js"},
    {"application/json", "json"},
    {"application/pdf", "pdf"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
    {"application/xml", "xml"},
    {"application/zip", "zip"},
    {"audio/mpeg", "mp3"},
    {"audio/wav", "wav"},
    {"image/bmp", "bmp"},
    {"image/gif", "gif"},
    {"image/jpeg", "jpg"},
    {"image/png", "png"},
    {"image/svg+xml", "svg"},
    {"image/tiff", "tif"},
    {"image/webp", "webp"},
    {"text/css", "css"},
    {"text/csv", "csv"},
    {"text/html", "html"},
    {"text/javascript", "js"},
    {"text/latex", "tex"},
    {"text/markdown", "md"},
    {"text/tab-separated-values", "tsv"},
    {"video/mp4", "mp4"},
    {"video/webm", "webm"},
};

static int is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

const char *mime_fault(const char *mime, size_t len)
{
    size_t i, begin = 0;
    int slashes = 0;

    if (len == 0) {
        return "is empty";
    }
    if (len > MIME_BYTES_MAX) {
        return "has more than 127 bytes";
    }
    for (i = 0; i < len; i++) {
        if (mime[i] == '/') {
            slashes++;
            begin = i + 1;
        } else if (mime[i] >= 'A' && mime[i] <= 'Z') {
            return "is not in lower case";
        } else if (!is_letter_or_digit(mime[i]) &&
                   (i == begin || mime[i] == '\0' || strchr("!#$&-^_.+", mime[i]) == NULL)) {
            return "has a character that is not allowed there";
        }
    }
    return slashes == 1 && begin > 1 && begin < len ? NULL : "is not type/subtype";
}

static int ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

int mime_is_text(const char *mime)
{
    return strncmp(mime, "text/", 5) == 0 || ends_with(mime, "+json") || ends_with(mime, "+xml") ||
           strcmp(mime, "application/json") == 0 || strcmp(mime, "application/xml") == 0 ||
           strcmp(mime, "application/javascript") == 0;
}

const char *mime_extension(const char *mime)
{
    size_t i;

    for (i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++) {
        if (strcmp(mime, KNOWN[i].mime) == 0) {
            return KNOWN[i].extension;
        }
    }
    return ends_with(mime, "+json")         ? "json"
           : ends_with(mime, "+xml")        ? "xml"
           : ends_with(mime, "+zip")        ? "zip"
           : strncmp(mime, "text/", 5) == 0 ? "txt"
                                            : "bin";
}
