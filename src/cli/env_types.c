/* env_types.c - `vial env types`, `search` and `describe`: the tools of an environment as text for
 * the prompt of a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "policy/document.h"
#include "schema/stubs.h"

enum {
    /* A thousand tools with two pages of description and types each. */
    TEXT_BYTES_MAX = 64 << 20,
    FOUND_MAX = 20, /* what a model or a person looks through */
};

/* The tools of an environment that its programs may call, as the writers of stubs want them. */
struct tool_list {
    struct document *doc; /* what the strings belong to */
    struct stub_tool *tools;
    size_t count;
};

static void release_tools(struct tool_list *list)
{
    free(list->tools);
    document_free(list->doc);
}

/* 0, or an exit code after a message. */
static int load_tools(const struct env_options *o, struct tool_list *ret)
{
    int code = env_load(o, &ret->doc, NULL, NULL);
    size_t i;

    if (code != 0) {
        return code;
    }
    ret->tools = calloc(ret->doc->tools_count + 1, sizeof(*ret->tools));
    if (ret->tools == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for %zu tools", ret->doc->tools_count);
    }
    for (i = 0; i < ret->doc->tools_count; i++) {
        const struct document_tool *tool = &ret->doc->tools[i];

        if (document_allows_tool(ret->doc, tool->name)) {
            ret->tools[ret->count++] = (struct stub_tool){.name = tool->name,
                .description = tool->description,
                .input = tool->input,
                .output = tool->output,
                .sync = tool->sync,
                .approve = tool->approve};
        }
    }
    return 0;
}

/* 0, or an exit code after a message. */
static int parse_language(const struct env_options *o, enum stub_language *ret)
{
    if (o->lang == NULL || strcmp(o->lang, "ts") == 0 || strcmp(o->lang, "typescript") == 0) {
        *ret = STUB_TYPESCRIPT;
        return 0;
    }
    if (strcmp(o->lang, "python") == 0 || strcmp(o->lang, "py") == 0) {
        *ret = STUB_PYTHON;
        return 0;
    }
    return cli_fail(EXIT_USAGE, "--lang takes ts or python, not \"%s\"", o->lang);
}

/* Prints what a writer of stubs has left, and ends its last line. */
static int print_text(int r, const struct buf *out, const struct vial_error *err)
{
    if (r < 0) {
        return cli_fail_library(err);
    }
    (void)fwrite(out->data, 1, out->len, stdout);
    if (out->len > 0 && out->data[out->len - 1] != '\n') {
        (void)putchar('\n');
    }
    return EXIT_FINE;
}

int env_types(const struct env_options *o)
{
    struct tool_list list = {.count = 0};
    enum stub_language language;
    struct vial_error err;
    struct buf out;
    int code = parse_language(o, &language);

    code = code != 0 ? code : load_tools(o, &list);
    if (code == 0) {
        buf_init(&out, TEXT_BYTES_MAX);
        code = print_text(stubs_write(list.tools, list.count, language, &out, &err), &out, &err);
        buf_release(&out);
    }
    release_tools(&list);
    return code;
}

int env_search(const struct env_options *o)
{
    struct tool_list list = {.count = 0};
    size_t found[FOUND_MAX], count = 0, width = 0, i;
    int code = load_tools(o, &list);

    if (code == 0 &&
        stubs_search(list.tools, list.count, o->words[2], FOUND_MAX, found, &count) < 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "no memory to search %zu tools", list.count);
    }
    if (code == 0 && count == 0) {
        code =
            cli_fail(EXIT_REFUSED, "no tool of %s has to do with \"%s\"", o->words[1], o->words[2]);
    }
    for (i = 0; code == 0 && i < count; i++) {
        size_t len = strlen(list.tools[found[i]].name);

        width = len > width ? len : width;
    }
    for (i = 0; code == 0 && i < count; i++) {
        const struct stub_tool *tool = &list.tools[found[i]];

        (void)printf("%-*s  ", (int)width, tool->name);
        env_put_line(tool->description != NULL ? tool->description : "");
        (void)putchar('\n');
    }
    release_tools(&list);
    return code;
}

/* The nearest name by the same search, for one that is not there. */
static int fail_unknown_tool(const struct env_options *o, const struct tool_list *list)
{
    size_t found[1], count = 0;

    if (stubs_search(list->tools, list->count, o->words[2], 1, found, &count) == 0 && count > 0) {
        return cli_fail(EXIT_REFUSED, "%s has no tool \"%s\"; did you mean %s?", o->words[1],
            o->words[2], list->tools[found[0]].name);
    }
    return cli_fail(EXIT_REFUSED, "%s has no tool \"%s\"", o->words[1], o->words[2]);
}

int env_describe(const struct env_options *o)
{
    struct tool_list list = {.count = 0};
    enum stub_language language;
    struct vial_error err;
    struct buf out;
    size_t i = 0;
    int code = parse_language(o, &language);

    code = code != 0 ? code : load_tools(o, &list);
    while (code == 0 && i < list.count && strcmp(list.tools[i].name, o->words[2]) != 0) {
        i++;
    }
    if (code == 0 && i == list.count) {
        code = fail_unknown_tool(o, &list);
    } else if (code == 0) {
        buf_init(&out, TEXT_BYTES_MAX);
        code = print_text(stubs_describe(&list.tools[i], language, &out, &err), &out, &err);
        buf_release(&out);
    }
    release_tools(&list);
    return code;
}
