/* scan_args.c - see scan_args.h. */
#include "cli/scan_args.h"

#include <stdlib.h>
#include <string.h>

enum { RULES_BYTES_MAX = 256 * 1024, NAME_BYTES_MAX = 64 }; /* as the library has them */

int scan_args_read(struct scan_args *s, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    struct vial_scan_rules *rules;
    char *text = NULL;
    int code;

    if (s->count == VIAL_SCAN_RULES_MAX) {
        return cli_fail(EXIT_USAGE, "--rules may be given up to %d times", VIAL_SCAN_RULES_MAX);
    }
    rules = &s->rules[s->count];
    code = cli_read_file(path, RULES_BYTES_MAX, "rules", &text, &rules->len);
    if (code != 0) {
        return code;
    }
    rules->text = text;
    rules->name = strndup(name, NAME_BYTES_MAX);
    s->count++;
    return rules->name != NULL ? 0 : cli_fail(EXIT_OUR_FAILURE, "no memory for rules");
}

static int take_mode(struct scan_args *s, struct cli_args *a, const char *command)
{
    const char *value = cli_args_value(a, command);

    if (value == NULL) {
        return EXIT_USAGE;
    }
    if (strcmp(value, "warn") != 0 && strcmp(value, "block") != 0) {
        return cli_fail(EXIT_USAGE, "--scan takes warn or block, not \"%s\"", value);
    }
    s->mode = value[0] == 'w' ? VIAL_SCAN_WARN : VIAL_SCAN_BLOCK;
    return 0;
}

int scan_args_take(struct scan_args *s, struct cli_args *a, const char *command)
{
    const char *value;

    if (strcmp(a->option, "--scan") == 0) {
        return take_mode(s, a, command);
    }
    if (strcmp(a->option, "--rules") != 0) {
        return 1;
    }
    value = cli_args_value(a, command);
    return value != NULL ? scan_args_read(s, value) : EXIT_USAGE;
}

void scan_args_release(struct scan_args *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free((void *)(uintptr_t)s->rules[i].name);
        free((void *)(uintptr_t)s->rules[i].text);
    }
    s->count = 0;
}
