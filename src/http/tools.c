/* tools.c - /v1/tools: the tools of an environment, listed, searched, described. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/environments.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/server.h"

enum { LIST_BYTES_MAX = 64 << 20, FOUND_MAX = 20 };

static void put_schema(struct json_writer *w, const char *key, const char *schema)
{
    json_key(w, key);
    if (schema != NULL) {
        json_raw(w, schema, strlen(schema));
    } else {
        json_bool(w, 1);
    }
}

static void put_tool(struct json_writer *w, const struct stub_tool *tool)
{
    json_begin_object(w);
    json_key(w, "name");
    json_text(w, tool->name);
    json_key(w, "description");
    json_text(w, tool->description);
    put_schema(w, "input", tool->input);
    put_schema(w, "output", tool->output);
    json_key(w, "mode");
    json_text(w, tool->sync ? "sync" : "async");
    json_key(w, "approve");
    json_bool(w, tool->approve);
    json_end_object(w);
}

/* The environment of the query. 0, or -1 with an answer. */
static int load(struct exchange *x, struct document **doc, struct stub_tool **tools, size_t *count)
{
    const char *ref = exchange_query(x, "environment");

    if (ref == NULL) {
        answer_problem(x, PROBLEM_INVALID, "say which environment: ?environment=NAME[@VERSION]");
        return -1;
    }
    if (environments_load(x, ref, doc, NULL, NULL) < 0) {
        return -1;
    }
    if (environments_stubs(*doc, tools, count) < 0) {
        document_free(*doc);
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    return 0;
}

void tools_list(struct exchange *x)
{
    const char *query = exchange_query(x, "search");
    struct stub_tool *tools = NULL;
    struct document *doc = NULL;
    size_t count = 0, found[FOUND_MAX], found_count = 0, i;
    struct json_writer w;
    struct buf out;

    if (load(x, &doc, &tools, &count) < 0) {
        return;
    }
    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    if (query != NULL) {
        (void)!stubs_search(tools, count, query, FOUND_MAX, found, &found_count);
        for (i = 0; i < found_count; i++) {
            put_tool(&w, &tools[found[i]]);
        }
    }
    for (i = 0; i < count && query == NULL; i++) {
        put_tool(&w, &tools[i]);
    }
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_write_null(&w);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
    free(tools);
    document_free(doc);
}

void tools_get(struct exchange *x)
{
    struct stub_tool *tools = NULL;
    struct document *doc = NULL;
    struct json_writer w;
    struct buf out;
    size_t count = 0, i = 0;

    if (load(x, &doc, &tools, &count) < 0) {
        return;
    }
    while (i < count && strcmp(tools[i].name, x->params[0]) != 0) {
        i++;
    }
    buf_init(&out, LIST_BYTES_MAX);
    if (i == count) {
        answer_problem(x, PROBLEM_NOT_FOUND, "the environment has no such tool");
    } else {
        json_init(&w, &out, NULL);
        put_tool(&w, &tools[i]);
        if (json_finish(&w) < 0) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        } else {
            answer_json(x, 200, &out);
        }
    }
    buf_release(&out);
    free(tools);
    document_free(doc);
}
