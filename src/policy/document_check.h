/* document_check.h - what the files that check parts of a document share: where they are in it, and
 * saying what is wrong there. For the inside of policy/document only.
 *
 * A check that finds a fault says so and goes on, so that one pass finds all of them. Values are
 * stored where they belong even when another part of the document is bad: document_free takes a
 * half-built document. */
#ifndef VIAL_POLICY_DOCUMENT_CHECK_H
#define VIAL_POLICY_DOCUMENT_CHECK_H

#include <jansson.h>

#include "base/buf.h"
#include "policy/document.h"

struct document_check {
    struct document *doc; /* being filled */
    const struct document_checks *checks;
    struct buf path;    /* JSON pointer of the present place */
    struct buf *report; /* an array that was begun */
    size_t faults;
    int r;                  /* the first failure of ours, such as no memory */
    struct vial_error *err; /* has that, or the first fault */
};

/* Goes into a member or an element, and back: the result of the first is what the second takes. */
size_t check_enter(struct document_check *c, const char *key);
size_t check_enter_index(struct document_check *c, size_t index);
void check_leave(struct document_check *c, size_t before);

/* Says that the present place breaks a rule. */
__attribute__((format(printf, 2, 3))) void check_say(
    struct document_check *c, const char *format, ...);

/* Notes a failure of ours; the check goes on and comes to nothing. */
void check_no_memory(struct document_check *c);

/* Is it an object, or an array, of at most max? what says of what: "tools". Says so when not. */
int must_be_object(struct document_check *c, const json_t *value, size_t max, const char *what);
int must_be_array(struct document_check *c, const json_t *value, size_t max, const char *what);

/* Complains about each key of an object that is not among known, which ends in NULL. */
void check_keys(struct document_check *c, json_t *object, const char *const known[]);

/* Zeroed memory for count elements; NULL, noted, without any, and for none. */
void *check_array_new(struct document_check *c, size_t count, size_t size);

/* The text of a string of up to bytes_max bytes without NUL, owned by the caller; NULL, and said or
 * noted, when it is none. */
char *must_be_string(struct document_check *c, const json_t *value, size_t bytes_max);

/* The same for member key of object; NULL without a complaint when there is no such member. */
char *check_member(
    struct document_check *c, const json_t *object, const char *key, size_t bytes_max);

/* A member that is true or false; by_default when it is not there. */
int check_bool(struct document_check *c, const json_t *object, const char *key, int by_default);

/* A member that is a whole number in a range; by_default when it is not there or wrong. */
uint64_t must_be_number(struct document_check *c, const json_t *object, const char *key,
    uint64_t by_default, uint64_t min, uint64_t max);

/* A member that is one of choices, which ends in NULL: its index; by default the first one's. */
unsigned check_choice(
    struct document_check *c, const json_t *object, const char *key, const char *const choices[]);

/* The members of an object of strings, each as one text: name, joint, value. name_fault judges the
 * names, value_fault, which may be NULL, the values; bytes_max is for each text. */
void check_pairs(struct document_check *c, json_t *object, const char *joint, size_t bytes_max,
    const char *(*name_fault)(const char *name, size_t len),
    const char *(*value_fault)(const char *value, size_t len), struct document_strings *ret);

/* A JSON value as text; numbers keep their value and as few digits as that takes. NULL, noted,
 * without memory. */
char *check_dump(struct document_check *c, const json_t *value);

void document_strings_release(struct document_strings *strings);

/* The parts of a document, each in a file of its own. value is the member, or NULL. */
void document_check_tools(struct document_check *c, const json_t *value);
void document_tools_release(struct document *doc);
void document_check_permissions(struct document_check *c, json_t *value);

/* permission_parse.c: a policy, of a document when c has one; NULL, noted, without memory. value
 * may be NULL: then it says nothing. */
struct permission *permission_check(struct document_check *c, json_t *value);
void document_check_imports(struct document_check *c, json_t *value);
void document_check_packages(struct document_check *c, json_t *value);
void document_check_scan(struct document_check *c, json_t *value);
void document_scan_release(struct document *doc);
void document_check_audit(struct document_check *c, json_t *value);
void document_check_limits(struct document_check *c, json_t *value);
void document_check_env(struct document_check *c, json_t *value);
void document_check_cwd(struct document_check *c, const json_t *root);
void document_check_files(struct document_check *c, json_t *value);
void document_check_mounts(struct document_check *c, json_t *value);
void document_check_room(struct document_check *c);

#endif
