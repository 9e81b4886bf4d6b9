/* document_tools.c - the tools of a document: see document.h. */
#include <stdlib.h>
#include <string.h>

#include "policy/document_check.h"
#include "policy/document_name.h"

enum { WHY_BYTES_MAX = 256 };

static const char *const TOOL_KEYS[] = {"name", "description", "input", "output", "mode",
    "timeout_ms", "calls_max", "concurrency_max", "input_bytes_max", "output_bytes_max", "approve",
    "http", "exec", NULL};

void document_tools_release(struct document *doc)
{
    size_t i;

    for (i = 0; i < doc->tools_count; i++) {
        struct document_tool *tool = &doc->tools[i];

        free(tool->name);
        free(tool->description);
        free(tool->input);
        free(tool->output);
        free(tool->url);
        free(tool->exec_cwd);
        document_strings_release(&tool->headers);
        document_strings_release(&tool->command);
        document_strings_release(&tool->exec_env);
    }
    free(doc->tools);
    doc->tools = NULL;
    doc->tools_count = 0;
}

/* ---- schemas ---- */

/* The schema of arguments or of answers as text. What a schema may say is judged by the caller's
 * check; here it only has the shape of one. */
static char *document_check_schema(struct document_check *c, const json_t *tool, const char *key)
{
    const json_t *value = json_object_get(tool, key);
    char why[WHY_BYTES_MAX] = "";
    char *text = NULL;
    size_t before;

    if (value == NULL) {
        return NULL;
    }
    before = check_enter(c, key);
    if (!json_is_object(value) && !json_is_boolean(value)) {
        check_say(c, "must be a JSON Schema: an object, true or false");
    } else {
        text = check_dump(c, value);
    }
    if (text != NULL && strlen(text) > DOCUMENT_SCHEMA_BYTES_MAX) {
        check_say(c, "the schema has %zu bytes; it may have up to %d", strlen(text),
            DOCUMENT_SCHEMA_BYTES_MAX);
    } else if (text != NULL && c->checks != NULL && c->checks->schema != NULL &&
               c->checks->schema(text, strlen(text), why, sizeof(why)) < 0) {
        check_say(c, "the schema %s", why);
    }
    check_leave(c, before);
    return text;
}

/* ---- http ---- */

static int has_control(const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            return 1;
        }
    }
    return 0;
}

static const char *url_fault(const char *url)
{
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    const char *host = url + scheme;
    size_t host_len = strcspn(host, "/?#");

    if (scheme == 0) {
        return "must begin with https:// or http://";
    }
    if (host_len == 0 || host[0] == ':') {
        return "has no host";
    }
    if (memchr(host, '@', host_len) != NULL) {
        return "has a user in it; give credentials as a header";
    }
    if (has_control(url, strlen(url)) || strpbrk(url, " \"<>\\^`{|}") != NULL) {
        return "has a character that must be written as %XX";
    }
    return strchr(url, '#') != NULL ? "has a fragment, which is never sent" : NULL;
}

/* A token of RFC 9110. The body and the connection are ours to describe. */
static const char *header_name_fault(const char *name, size_t len)
{
    static const char *const ours[] = {"connection", "content-length", "host", "transfer-encoding"};
    size_t i;

    if (len == 0) {
        return "is empty";
    }
    for (i = 0; i < len; i++) {
        int plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                    (name[i] >= '0' && name[i] <= '9');

        if (!plain && strchr("!#$%&'*+-.^_`|~", name[i]) == NULL) {
            return "has a character that header names do not have";
        }
    }
    for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (strcasecmp(name, ours[i]) == 0) {
            return "is a header that vial sets by itself";
        }
    }
    return NULL;
}

/* A line end in a value would make a second header of the rest. */
static const char *header_value_fault(const char *value, size_t len)
{
    return has_control(value, len) ? "has a control character in it" : NULL;
}

static void check_http(struct document_check *c, json_t *value, struct document_tool *tool)
{
    static const char *const known[] = {"url", "headers", NULL};
    json_t *headers = json_object_get(value, "headers");
    const char *fault;
    size_t before;

    if (!must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    tool->executor = DOCUMENT_BY_HTTP;
    if (json_object_get(value, "url") == NULL) {
        check_say(c, "the key \"url\" is missing");
    }
    tool->url = check_member(c, value, "url", DOCUMENT_URL_BYTES_MAX);
    fault = tool->url != NULL ? url_fault(tool->url) : NULL;
    if (fault != NULL) {
        before = check_enter(c, "url");
        check_say(c, "the address %s", fault);
        check_leave(c, before);
    }
    if (headers != NULL) {
        before = check_enter(c, "headers");
        if (must_be_object(c, headers, DOCUMENT_HEADERS_MAX, "headers")) {
            check_pairs(c, headers, ": ", DOCUMENT_HEADER_BYTES_MAX, header_name_fault,
                header_value_fault, &tool->headers);
        }
        check_leave(c, before);
    }
}

/* ---- exec ---- */

static void check_command(struct document_check *c, const json_t *value, struct document_tool *tool)
{
    size_t count = json_array_size(value), bytes = 0, i, before;

    if (!must_be_array(c, value, DOCUMENT_WORDS_MAX, "words")) {
        return;
    }
    if (count == 0) {
        check_say(c, "must have at least the program");
    }
    tool->command.items = check_array_new(c, count, sizeof(*tool->command.items));
    for (i = 0; i < count && tool->command.items != NULL; i++) {
        char *word;

        before = check_enter_index(c, i);
        word = must_be_string(c, json_array_get(value, i), DOCUMENT_WORDS_BYTES_MAX);
        if (word != NULL && i == 0 && word[0] == '\0') {
            check_say(c, "the program is empty");
        }
        if (word != NULL) {
            bytes += strlen(word) + 1;
            tool->command.items[tool->command.count++] = word;
        }
        check_leave(c, before);
    }
    if (bytes > DOCUMENT_WORDS_BYTES_MAX) {
        check_say(c, "has %zu bytes; a command may have up to %d", bytes, DOCUMENT_WORDS_BYTES_MAX);
    }
}

static void check_exec(struct document_check *c, json_t *value, struct document_tool *tool)
{
    static const char *const known[] = {"command", "env", "cwd", NULL};
    const json_t *command = json_object_get(value, "command");
    json_t *env = json_object_get(value, "env");
    size_t before;

    if (!must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    tool->executor = DOCUMENT_BY_EXEC;
    if (command == NULL) {
        check_say(c, "the key \"command\" is missing");
    } else {
        before = check_enter(c, "command");
        check_command(c, command, tool);
        check_leave(c, before);
    }
    if (env != NULL) {
        before = check_enter(c, "env");
        if (must_be_object(c, env, DOCUMENT_WORDS_MAX, "variables")) {
            check_pairs(
                c, env, "=", DOCUMENT_WORDS_BYTES_MAX, variable_name_fault, NULL, &tool->exec_env);
        }
        check_leave(c, before);
    }
    tool->exec_cwd = check_member(c, value, "cwd", DOCUMENT_URL_BYTES_MAX);
    if (tool->exec_cwd != NULL && tool->exec_cwd[0] != '/') {
        before = check_enter(c, "cwd");
        check_say(c, "must be an absolute path");
        check_leave(c, before);
    }
}

/* ---- one tool, and all of them ---- */

static void check_executor(
    struct document_check *c, const json_t *value, struct document_tool *tool)
{
    json_t *http = json_object_get(value, "http");
    json_t *exec = json_object_get(value, "exec");
    size_t before;

    if (http != NULL && exec != NULL) {
        check_say(c, "has both \"http\" and \"exec\"; one of them answers the calls");
    }
    if (http != NULL) {
        before = check_enter(c, "http");
        check_http(c, http, tool);
        check_leave(c, before);
    }
    if (exec != NULL) {
        before = check_enter(c, "exec");
        check_exec(c, exec, tool);
        check_leave(c, before);
    }
}

static void check_tool_name(
    struct document_check *c, const json_t *value, struct document_tool *tool)
{
    const char *fault;
    size_t before;

    if (json_object_get(value, "name") == NULL) {
        check_say(c, "the key \"name\" is missing: a tool needs a name");
        return;
    }
    tool->name = check_member(c, value, "name", DOCUMENT_BYTES_MAX);
    fault = tool->name != NULL ? tool_name_fault(tool->name, strlen(tool->name)) : NULL;
    if (fault != NULL) {
        before = check_enter(c, "name");
        check_say(c, "the name %s", fault);
        check_leave(c, before);
    }
}

static void check_tool(struct document_check *c, json_t *value, struct document_tool *tool)
{
    static const char *const modes[] = {"async", "sync", NULL};

    if (!must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, TOOL_KEYS);
    check_tool_name(c, value, tool);
    tool->description = check_member(c, value, "description", DOCUMENT_DESCRIPTION_BYTES_MAX);
    tool->input = document_check_schema(c, value, "input");
    tool->output = document_check_schema(c, value, "output");
    tool->sync = check_choice(c, value, "mode", modes) == 1;
    tool->approve = check_bool(c, value, "approve", 0);
    tool->timeout_ms =
        (uint32_t)must_be_number(c, value, "timeout_ms", DOCUMENT_TOOL_MS, 1, DOCUMENT_TOOL_MS_MAX);
    tool->calls_max = (uint32_t)must_be_number(
        c, value, "calls_max", DOCUMENT_TOOL_CALLS, 1, DOCUMENT_TOOL_CALLS_MAX);
    tool->concurrency_max = (uint32_t)must_be_number(
        c, value, "concurrency_max", DOCUMENT_TOOL_CONCURRENCY, 1, DOCUMENT_TOOL_CONCURRENCY_MAX);
    tool->input_bytes_max = must_be_number(c, value, "input_bytes_max", DOCUMENT_TOOL_INPUT_BYTES,
        DOCUMENT_TOOL_VALUE_BYTES_MIN, DOCUMENT_TOOL_VALUE_BYTES_MAX);
    tool->output_bytes_max = must_be_number(c, value, "output_bytes_max",
        DOCUMENT_TOOL_OUTPUT_BYTES, DOCUMENT_TOOL_VALUE_BYTES_MIN, DOCUMENT_TOOL_VALUE_BYTES_MAX);
    check_executor(c, value, tool);
}

/* A name and its place in the document. */
struct placed {
    const char *name;
    size_t index;
};

/* By name, with the dot before all other characters: then "crm.find" stands right behind "crm" and
 * what is beneath it, and not behind "crm$". Equal names are ordered by place. */
static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    size_t i;

    for (i = 0; x->name[i] == y->name[i] && x->name[i] != '\0'; i++) {
    }
    if (x->name[i] == y->name[i]) {
        return x->index < y->index ? -1 : x->index > y->index;
    }
    if (x->name[i] == '\0' || y->name[i] == '\0') {
        return x->name[i] == '\0' ? -1 : 1;
    }
    if (x->name[i] == '.' || y->name[i] == '.') {
        return x->name[i] == '.' ? -1 : 1;
    }
    return (unsigned char)x->name[i] < (unsigned char)y->name[i] ? -1 : 1;
}

/* Says at the tool's name that it clashes with another one. */
static void say_clash(
    struct document_check *c, const struct placed *tool, const struct placed *other)
{
    size_t before = check_enter_index(c, tool->index);
    size_t within = check_enter(c, "name");

    if (strcmp(tool->name, other->name) == 0) {
        check_say(c, "the name is that of tool %zu too", other->index);
    } else {
        check_say(c, "the name begins with that of tool %zu, which is a function", other->index);
    }
    check_leave(c, within);
    check_leave(c, before);
}

/* Two tools of one name, or one whose name is the beginning of another: a function cannot be an
 * object of functions as well. */
static void check_clashes(struct document_check *c)
{
    const struct document *doc = c->doc;
    struct placed *sorted = check_array_new(c, doc->tools_count, sizeof(*sorted));
    size_t count = 0, above = 0, i;

    if (sorted == NULL) {
        return;
    }
    for (i = 0; i < doc->tools_count; i++) {
        if (doc->tools[i].name != NULL) {
            sorted[count++] = (struct placed){doc->tools[i].name, i};
        }
    }
    qsort(sorted, count, sizeof(*sorted), compare_placed);
    for (i = 1; i < count; i++) {
        if (strcmp(sorted[i].name, sorted[above].name) == 0 ||
            tool_name_is_above(sorted[above].name, sorted[i].name)) {
            say_clash(c, &sorted[i], &sorted[above]);
        } else {
            above = i;
        }
    }
    free(sorted);
}

void document_check_tools(struct document_check *c, const json_t *value)
{
    size_t i, before;

    if (value == NULL || !must_be_array(c, value, DOCUMENT_TOOLS_MAX, "tools")) {
        return;
    }
    c->doc->tools = check_array_new(c, json_array_size(value), sizeof(*c->doc->tools));
    if (c->doc->tools == NULL) {
        return;
    }
    c->doc->tools_count = json_array_size(value);
    for (i = 0; i < c->doc->tools_count; i++) {
        before = check_enter_index(c, i);
        check_tool(c, json_array_get(value, i), &c->doc->tools[i]);
        check_leave(c, before);
    }
    check_clashes(c);
}
