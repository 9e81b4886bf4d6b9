/* narrow.c - see narrow.h.
 *
 * A string object holds the address of a record, and the record holds the address of the text, its
 * length, and some flags. All of that is looked for by value, through the kernel, which answers
 * with an error where there is no memory: nothing here depends on a version of the engine but that
 * there is such a record at all. */
#include "cell/js/narrow.h"

#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OBJECT_BYTES = 32, /* of a string object, and of its record, that are looked at */
    RECORD_BYTES = 32,
    TEXT_UNITS = 48, /* long enough for no other bytes to be the same */
};

/* Texts of one length that differ in all characters; the last two are not kept in bytes. */
static const char *const PROBES[] = {"the quick brown fox jumps over the lazy dog 1234",
    "PACK MY BOX WITH FIVE DOZEN LIQUOR JUGS, SIR! 56",
    "\xe4\xbd\xa0quick brown fox jumps over the lazy dog 1234567",
    "\xe4\xbd\xa0 CK MY BOX WITH FIVE DOZEN LIQUOR JUGS, SIR!abc"};
enum { PROBE_COUNT = sizeof(PROBES) / sizeof(PROBES[0]), NARROW_COUNT = 2 };

/* What the library exports without a header; NULL in a library that has it no more. Both return an
 * object of one address through a pointer: the text, and the string object that takes it over. */
extern void text_from_utf8(void **ret, const char *bytes, size_t len) __asm__(
    "_ZN3WTF6String8fromUTF8ESt4spanIKDuLm18446744073709551615EE") __attribute__((weak));
extern void object_from_text(void **ret, void **text) __asm__(
    "_ZN14OpaqueJSString9tryCreateEON3WTF6StringE") __attribute__((weak));

static int can_make; /* narrow_string was tried */

/* Where things are; valid when mark is not 0. */
static struct {
    size_t record_at; /* in the string object */
    size_t length_at; /* these in the record */
    size_t text_at;
    size_t flags_at;
    uint32_t mark; /* the bit of the flags that says that a character is a byte */
} place;

static int copy_own_memory(uintptr_t from, void *to, size_t len)
{
    struct iovec local = {.iov_base = to, .iov_len = len};
    struct iovec remote = {.iov_len = len};

    memcpy(&remote.iov_base, &from, sizeof(from));
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -1;
}

static uintptr_t address_at(const char *bytes, size_t at)
{
    uintptr_t address;

    memcpy(&address, bytes + at, sizeof(address));
    return address;
}

static uint32_t word_at(const char *bytes, size_t at)
{
    uint32_t word;

    memcpy(&word, bytes + at, sizeof(word));
    return word;
}

/* Does a record have the address of this text, and where? */
static int find_text(const char *record, const char *text)
{
    char bytes[TEXT_UNITS];
    size_t at;

    for (at = 0; at + sizeof(uintptr_t) <= RECORD_BYTES; at += sizeof(uintptr_t)) {
        if (copy_own_memory(address_at(record, at), bytes, sizeof(bytes)) == 0 &&
            memcmp(bytes, text, sizeof(bytes)) == 0) {
            place.text_at = at;
            return 0;
        }
    }
    return -1;
}

/* Finds the record of the first text, and in it the text's address. */
static int find_record(JSStringRef string, char *record)
{
    char object[OBJECT_BYTES];
    size_t at;

    if (copy_own_memory((uintptr_t)string, object, sizeof(object)) < 0) {
        return -1;
    }
    for (at = 0; at + sizeof(uintptr_t) <= OBJECT_BYTES; at += sizeof(uintptr_t)) {
        if (copy_own_memory(address_at(object, at), record, RECORD_BYTES) == 0 &&
            find_text(record, PROBES[0]) == 0) {
            place.record_at = at;
            return 0;
        }
    }
    return -1;
}

static int read_record(JSStringRef string, char *record)
{
    uintptr_t address;

    return copy_own_memory((uintptr_t)string + place.record_at, &address, sizeof(address)) == 0
               ? copy_own_memory(address, record, RECORD_BYTES)
               : -1;
}

/* A word that is the length in all of them. */
static int find_length(char records[][RECORD_BYTES])
{
    size_t at, i;

    for (at = 0; at + sizeof(uint32_t) <= RECORD_BYTES; at += sizeof(uint32_t)) {
        for (i = 0; i < PROBE_COUNT && word_at(records[i], at) == TEXT_UNITS; i++) {
        }
        if (i == PROBE_COUNT) {
            place.length_at = at;
            return 0;
        }
    }
    return -1;
}

/* One bit that both narrow texts have and both others lack, outside of length and address. */
static int find_mark(char records[][RECORD_BYTES])
{
    size_t at;
    uint32_t mark;

    for (at = 0; at + sizeof(uint32_t) <= RECORD_BYTES; at += sizeof(uint32_t)) {
        if (at == place.length_at ||
            (at >= place.text_at && at < place.text_at + sizeof(uintptr_t))) {
            continue;
        }
        mark = word_at(records[0], at) & word_at(records[1], at) & ~word_at(records[2], at) &
               ~word_at(records[3], at);
        if (mark != 0 && (mark & (mark - 1)) == 0) {
            place.flags_at = at;
            place.mark = mark;
            return 0;
        }
    }
    return -1;
}

static JSStringRef make(const char *ascii, size_t len)
{
    void *text = NULL, *object = NULL;

    text_from_utf8(&text, ascii, len);
    if (text != NULL) {
        object_from_text(&object, &text);
    }
    return object;
}

/* Does it make what it is asked for? Only where the result can be looked at. */
static void try_making(void)
{
    static const char text[TEXT_UNITS + 1] = "a text with\0a NUL in the midst, and a line\nmore.";
    const unsigned char *bytes;
    JSStringRef string;

    if (place.mark == 0 || text_from_utf8 == NULL || object_from_text == NULL) {
        return;
    }
    string = make(text, TEXT_UNITS);
    bytes = string != NULL ? narrow_bytes(string) : NULL;
    can_make = bytes != NULL && JSStringGetLength(string) == TEXT_UNITS &&
               memcmp(bytes, text, TEXT_UNITS) == 0;
    if (string != NULL) {
        JSStringRelease(string);
    }
}

int narrow_find(void)
{
    char records[PROBE_COUNT][RECORD_BYTES];
    JSStringRef strings[PROBE_COUNT];
    int i, r;

    place.mark = 0;
    for (i = 0; i < PROBE_COUNT; i++) {
        strings[i] = JSStringCreateWithUTF8CString(PROBES[i]);
    }
    r = find_record(strings[0], records[0]);
    for (i = 0; r == 0 && i < PROBE_COUNT; i++) {
        r = read_record(strings[i], records[i]);
    }
    if (r == 0 && (find_text(records[1], PROBES[1]) < 0 || find_length(records) < 0 ||
                      find_mark(records) < 0)) {
        r = -1;
    }
    for (i = 0; i < PROBE_COUNT; i++) {
        JSStringRelease(strings[i]);
    }
    try_making();
    return r;
}

JSStringRef narrow_string(const char *ascii, size_t len)
{
    return can_make && len > 0 ? make(ascii, len) : NULL;
}

const unsigned char *narrow_bytes(JSStringRef string)
{
    const char *object = (const char *)string;
    const char *record;

    if (place.mark == 0) {
        return NULL;
    }
    record = (const char *)address_at(object, place.record_at);
    if (record == NULL || (word_at(record, place.flags_at) & place.mark) == 0 ||
        word_at(record, place.length_at) != JSStringGetLength(string)) {
        return NULL;
    }
    return (const unsigned char *)address_at(record, place.text_at);
}
