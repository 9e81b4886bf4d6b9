/* env.h - what the commands of `vial env` share. */
#ifndef VIAL_CLI_ENV_H
#define VIAL_CLI_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "policy/document.h"
#include "store/store.h"

enum { ENV_WORDS_MAX = 2, ENV_PATH_BYTES_MAX = 4096 };

/* What was given on the command line. */
struct env_options {
    const char *data_dir;
    const char *lang;
    int json, force;
    const char *words[ENV_WORDS_MAX + 1]; /* the command, and what follows it */
    size_t words_count;
};

/* The directory of the store: what was given, $VIAL_DATA_DIR, or the user's. 0, or an exit code
 * after a message. */
int env_data_dir(const char *given, char *ret, size_t size);

/* Opens that. */
int env_open(const struct env_options *o, struct store **ret);

/* The environment that word number one names, or the newest version of it, parsed; each of the
 * results may be NULL. 0, or an exit code after a message. */
int env_load(const struct env_options *o, struct document **ret, struct store_version *ret_version,
    char **ret_json);

/* The exit code for what the store or the catalog said, after its message. */
int env_fail(const struct vial_error *err);

/* The faults of a document as document_parse reports them, one a line on stderr; called is what the
 * document is called. The exit code. */
int env_say_faults(const char *called, const struct buf *report);

/* A document for people, on stdout. */
void env_print(const struct document *doc, const struct store_version *version);

/* The first line of a text on stdout, cut when it is long, with terminal codes made visible. */
void env_put_line(const char *text);

/* A time as people write it, in UTC; static. */
const char *env_time(uint64_t us);

/* The commands; each returns an exit code. */
int env_create(const struct env_options *o);
int env_update(const struct env_options *o);
int env_list(const struct env_options *o);
int env_show(const struct env_options *o);
int env_versions(const struct env_options *o);
int env_delete(const struct env_options *o);
int env_schema(const struct env_options *o);
int env_test(const struct env_options *o);
int env_types(const struct env_options *o);
int env_search(const struct env_options *o);
int env_describe(const struct env_options *o);

#endif
