/* env_print.c - an environment for people: `vial env show`.
 *
 * Values of headers and variables are not shown: they may be keys to other services, and a terminal
 * is looked at by more people than a store. `--json` shows all. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/env.h"
#include "policy/limits.h"

enum { LABEL_WIDTH = 12, LINE_BYTES_MAX = 100 };

void env_put_line(const char *text)
{
    size_t shown = 0;

    for (; *text != '\0' && *text != '\n'; text++) {
        unsigned char c = (unsigned char)text[0];
        unsigned char next = (unsigned char)text[1];

        if (shown++ >= LINE_BYTES_MAX && (c & 0xc0) != 0x80) {
            break;
        }
        if (c == 0xc2 && next >= 0x80 && next <= 0x9f) { /* U+0080 to U+009F */
            (void)putchar('?');
            text++;
        } else {
            (void)putchar(c < 0x20 || c == 0x7f ? '?' : c);
        }
    }
    if (*text != '\0') {
        (void)fputs(" ...", stdout);
    }
}

static void put_label(const char *label)
{
    (void)printf("%-*s", LABEL_WIDTH, label);
}

static void put_field(const char *label, const char *text)
{
    put_label(label);
    env_put_line(text);
    (void)putchar('\n');
}

/* The label before the first of several lines only. */
static const char *label_of(const char *label, size_t index)
{
    return index == 0 ? label : "";
}

static const char *executor_name(int executor)
{
    return executor == DOCUMENT_BY_HTTP ? "http" : executor == DOCUMENT_BY_EXEC ? "exec" : "host";
}

static void print_tools(const struct document *doc)
{
    size_t width = 0, i;

    for (i = 0; i < doc->tools_count; i++) {
        width = strlen(doc->tools[i].name) > width ? strlen(doc->tools[i].name) : width;
    }
    for (i = 0; i < doc->tools_count; i++) {
        const struct document_tool *tool = &doc->tools[i];

        put_label(label_of("tools", i));
        (void)printf("%-*s  %-5s  %-4s  ", (int)width, tool->name, tool->sync ? "sync" : "async",
            executor_name(tool->executor));
        if (!document_allows_tool(doc, tool->name)) {
            (void)fputs("(not allowed) ", stdout);
        }
        if (tool->approve) {
            (void)fputs("(needs approval) ", stdout);
        }
        env_put_line(tool->description != NULL ? tool->description : "");
        (void)putchar('\n');
    }
}

/* Only what differs from a run without an environment. */
static void print_limits(const struct document *doc)
{
    size_t count, i, shown = 0;
    const struct limit_row *rows = limits_table(&count);

    for (i = 0; i < count; i++) {
        uint64_t value = limits_get(&doc->limits, &rows[i]);
        uint64_t max = limits_get(&doc->limits_max, &rows[i]);

        if (value != rows[i].by_default || max != rows[i].max) {
            put_label(label_of("limits", shown++));
            (void)printf("%-16s  %" PRIu64 ", at most %" PRIu64 "\n", rows[i].field, value, max);
        }
    }
}

static void print_variables(const struct document *doc)
{
    size_t i;

    for (i = 0; i < doc->env.count; i++) {
        put_label(label_of("env", i));
        (void)printf("%.*s\n", (int)strcspn(doc->env.items[i], "="), doc->env.items[i]);
    }
}

static void print_files(const struct document *doc)
{
    size_t i;

    if (doc->cwd != NULL) {
        put_field("cwd", doc->cwd);
    }
    for (i = 0; i < doc->files_count; i++) {
        put_label(label_of("files", i));
        env_put_line(doc->files[i].name);
        (void)printf(" (%zu bytes)\n", doc->files[i].len);
    }
    for (i = 0; i < doc->mounts_count; i++) {
        put_label(label_of("mounts", i));
        env_put_line(doc->mounts[i].name);
        (void)fputs(" from ", stdout);
        env_put_line(doc->mounts[i].from);
        (void)putchar('\n');
    }
    if (!doc->files_allowed) {
        put_field("files", "none, and runs have no directory");
    }
}

void env_print(const struct document *doc, const struct store_version *version)
{
    size_t i;

    (void)printf("%-*s%s@%u\n", LABEL_WIDTH, "name", version->name, version->version);
    put_field(
        "created", version->created_us != 0 ? env_time(version->created_us) : "it comes with vial");
    if (doc->description != NULL) {
        put_field("description", doc->description);
    }
    put_field("language", doc->language == VIAL_LANGUAGE_TYPESCRIPT ? "typescript"
                          : doc->language == VIAL_LANGUAGE_PYTHON   ? "python"
                                                                    : "javascript");
    put_field("entry", doc->entry_is_main ? "main" : "script");
    if (doc->prefix_len > 0) {
        put_label("prefix");
        (void)printf("%zu bytes\n", doc->prefix_len);
    }
    for (i = 0; i < doc->modules_count; i++) {
        put_label(label_of("modules", i));
        env_put_line(doc->modules[i].name);
        (void)printf(" (%zu bytes)\n", doc->modules[i].source_len);
    }
    print_tools(doc);
    for (i = 0; i < doc->globals_count; i++) {
        put_label(label_of("globals", i));
        (void)printf("%s = ", doc->globals[i].name);
        env_put_line(doc->globals[i].json);
        (void)putchar('\n');
    }
    print_limits(doc);
    print_variables(doc);
    print_files(doc);
}
