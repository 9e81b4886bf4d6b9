/* limit_args.c - see limit_args.h. */
#include "cli/limit_args.h"

#include <stdio.h>
#include <string.h>

#include "policy/limits.h"

int limit_args_take(struct vial_limits *limits, struct cli_args *a, const char *command)
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);
    struct vial_error err;
    const char *value;
    uint64_t number;

    for (i = 0; i < count; i++) {
        if (strcmp(a->option, rows[i].flag) != 0) {
            continue;
        }
        value = cli_args_value(a, command);
        if (value == NULL) {
            return -EXIT_USAGE;
        }
        if (cli_number(value, &number) < 0) {
            return -cli_fail(EXIT_USAGE, "%s takes a whole number from %llu to %llu, not \"%s\"",
                rows[i].flag,
                (unsigned long long)((rows[i].min + rows[i].flag_factor - 1) / rows[i].flag_factor),
                (unsigned long long)(rows[i].max / rows[i].flag_factor), value);
        }
        if (limits_set_from_flag(limits, &rows[i], number, &err) < 0) {
            return -cli_fail(EXIT_USAGE, "%s", err.text);
        }
        return 1;
    }
    return 0;
}

void limit_args_help(void)
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);

    for (i = 0; i < count; i++) {
        char flag[32];

        (void)snprintf(flag, sizeof(flag), "%s N", rows[i].flag);
        (void)printf("  %-19s %s (%llu; %llu to %llu)\n", flag, rows[i].help,
            (unsigned long long)(rows[i].by_default / rows[i].flag_factor),
            (unsigned long long)((rows[i].min + rows[i].flag_factor - 1) / rows[i].flag_factor),
            (unsigned long long)(rows[i].max / rows[i].flag_factor));
    }
}
