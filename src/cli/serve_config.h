/* serve_config.h - the settings of `vial serve`: from flags, the environment, files and defaults,
 * in this order, each with where it came from. */
#ifndef VIAL_CLI_SERVE_CONFIG_H
#define VIAL_CLI_SERVE_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "http/options.h"

enum { SERVE_SETTINGS_MAX = 64, SERVE_SOURCE_BYTES = 300 };

struct serve_flags; /* what was given on the command line, kept for when files are read anew */

struct serve_config {
    struct http_options options;
    char *texts[SERVE_SETTINGS_MAX + LISTEN_MAX]; /* owned; options points to them */
    size_t texts_count;
    char sources[SERVE_SETTINGS_MAX][SERVE_SOURCE_BYTES]; /* by the number of the setting */
};

/* A setting given by a flag. */
struct serve_flag {
    const char *key; /* as in the file */
    const char *value;
};

/* Reads everything. path is the configuration file, or NULL for the usual one, which need not be
 * there. 0, or an exit code after a message. */
int serve_config_read(struct serve_config *config, const char *path, const struct serve_flag *flags,
    size_t flags_count);
void serve_config_release(struct serve_config *config);

/* Every setting with its value and where it came from, on stdout. */
void serve_config_print(const struct serve_config *config);

/* The settings as help for flags. */
void serve_config_help(void);

/* The key of a flag such as --queue-max; NULL when there is none. is_plain: it takes no value. */
const char *serve_config_key(const char *flag, int *ret_is_plain);

/* For suggestions: all flags, ended by NULL. */
const char *const *serve_config_flags(void);

#endif
