/* stubs_search.c - see stubs.h: which tools have to do with a few words.
 *
 * Every word of the query is compared with the words of each tool: those of its name count most,
 * then names of fields, then the description. camelCase, snake_case and dots make words. A word
 * that is in few tools says more than one that is in all, but the tools are few and their texts
 * short, so that this is left out: what counts is how many words of the query a tool knows. */
#include <stdint.h>
#include <string.h>

#include "base/near.h"
#include "schema/stubs.h"
#include "schema/tree.h"

enum {
    WORDS_MAX = 16, /* of a query */
    WORD_BYTES_MAX = 32,
    PREFIX_BYTES_MIN = 3,
    /* How much a word counts by where it is, in halves and quarters for beginnings and typing
     * errors. */
    WEIGHT_NAME = 40,
    WEIGHT_FIELD = 16,
    WEIGHT_DESCRIPTION = 12,
    WEIGHT_EVERY = 100,           /* for each word of the query that is found at all */
    WEIGHT_WHOLE_NAME = 1000,     /* the query is the name */
    DESCRIPTION_BYTES_MAX = 4096, /* looked at; tools say in the first sentence what they do */
};

struct word {
    char text[WORD_BYTES_MAX];
    size_t len;
    unsigned best; /* how much it counts in the tool being looked at */
};

struct query {
    struct word words[WORDS_MAX];
    size_t count;
};

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || (c & 0x80) != 0;
}

/* Cuts the next word off the text: "findCustomer by_id" has four. 0 when there are no more. */
static size_t next_word(const char **p, const char *end, char *out)
{
    const char *at = *p;
    size_t len = 0;

    while (at < end && !is_word_char(*at)) {
        at++;
    }
    while (at < end && is_word_char(*at)) {
        if (len > 0 && *at >= 'A' && *at <= 'Z' && !(at[-1] >= 'A' && at[-1] <= 'Z')) {
            break;
        }
        if (len < WORD_BYTES_MAX) {
            out[len++] = lower(*at);
        }
        at++;
    }
    *p = at;
    return len;
}

/* Words that are in every sentence and tell nothing. */
static int is_filler(const char *word, size_t len)
{
    static const char *const words[] = {"a", "all", "an", "and", "by", "can", "do", "for", "from",
        "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "that", "the", "this", "to",
        "tool", "use", "what", "which", "with", "you"};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

static void read_query(struct query *q, const char *text)
{
    const char *p = text, *end;
    char word[WORD_BYTES_MAX];
    int keep_fillers;
    size_t len;

    len = strlen(text);
    end = text + (len < STUBS_QUERY_BYTES_MAX ? len : STUBS_QUERY_BYTES_MAX);
    /* A query of nothing but such words means them. */
    for (keep_fillers = 0; keep_fillers < 2 && q->count == 0; keep_fillers++) {
        p = text;
        while (q->count < WORDS_MAX && (len = next_word(&p, end, word)) > 0) {
            if (keep_fillers || !is_filler(word, len)) {
                memcpy(q->words[q->count].text, word, len);
                q->words[q->count++].len = len;
            }
        }
    }
}

/* How well two words agree, of 4: the same, one begins with the other, a typing error. */
static unsigned agreement(const struct word *w, const char *text, size_t len)
{
    size_t shorter = w->len < len ? w->len : len;
    unsigned max;

    if (w->len == len && memcmp(w->text, text, len) == 0) {
        return 4;
    }
    /* "customers" and "customer", "find" and "finding" */
    if (shorter >= PREFIX_BYTES_MIN && memcmp(w->text, text, shorter) == 0) {
        return 2;
    }
    max = shorter >= 7 ? 2 : shorter >= 4 ? 1 : 0;
    return max > 0 && near_distance(w->text, w->len, text, len, max) <= max ? 1 : 0;
}

static void look_at(struct query *q, const char *text, size_t text_len, unsigned weight)
{
    const char *p = text, *end = text + text_len;
    char word[WORD_BYTES_MAX];
    unsigned counts;
    size_t len, i;

    while ((len = next_word(&p, end, word)) > 0) {
        for (i = 0; i < q->count; i++) {
            counts = weight * agreement(&q->words[i], word, len) / 4;
            if (counts > q->words[i].best) {
                q->words[i].best = counts;
            }
        }
    }
}

/* The names under every "properties" of a schema. */
static int look_at_fields(struct query *q, const char *schema)
{
    struct tree t;
    uint32_t i, k, properties;
    int r;

    r = schema == NULL ? VIAL_E_INVALID : tree_read(&t, schema, strlen(schema), NULL);
    if (r < 0) {
        return r == VIAL_E_NOMEM ? r : VIAL_OK;
    }
    for (i = 0; i < t.count; i++) {
        properties = tree_member(&t, i, "properties");
        if (properties == 0 || t.values[properties].kind != TREE_OBJECT) {
            continue;
        }
        for (k = tree_first(properties); k != tree_end(&t, properties); k = tree_next(&t, k + 1)) {
            look_at(q, t.values[k].text, t.values[k].len, WEIGHT_FIELD);
        }
    }
    tree_release(&t);
    return VIAL_OK;
}

/* How much a tool has to do with the query; 0: nothing. */
static int rate(struct query *q, const struct stub_tool *tool, const char *query, unsigned *ret)
{
    const char *description = tool->description == NULL ? "" : tool->description;
    size_t len = strlen(description), i;
    unsigned sum = 0;
    int r;

    for (i = 0; i < q->count; i++) {
        q->words[i].best = 0;
    }
    look_at(q, tool->name, strlen(tool->name), WEIGHT_NAME);
    look_at(q, description, len < DESCRIPTION_BYTES_MAX ? len : DESCRIPTION_BYTES_MAX,
        WEIGHT_DESCRIPTION);
    r = look_at_fields(q, tool->input);
    if (r < 0) {
        return r;
    }
    for (i = 0; i < q->count; i++) {
        sum += q->words[i].best > 0 ? WEIGHT_EVERY + q->words[i].best : 0;
    }
    *ret = sum + (strcmp(tool->name, query) == 0 ? WEIGHT_WHOLE_NAME : 0);
    return VIAL_OK;
}

int stubs_search(const struct stub_tool *tools, size_t count, const char *query, size_t max,
    size_t *ret_indices, size_t *ret_count)
{
    struct query q = {.count = 0};
    unsigned scores[STUBS_FOUND_MAX];
    size_t found = 0, i, k;
    unsigned score = 0;
    int r;

    max = max < STUBS_FOUND_MAX ? max : STUBS_FOUND_MAX;
    read_query(&q, query);
    for (i = 0; i < count && max > 0 && q.count > 0; i++) {
        r = rate(&q, &tools[i], query, &score);
        if (r < 0) {
            return r;
        }
        if (score == 0 || (found == max && score <= scores[found - 1])) {
            continue;
        }
        for (k = found < max ? found++ : found - 1; k > 0 && scores[k - 1] < score; k--) {
            scores[k] = scores[k - 1];
            ret_indices[k] = ret_indices[k - 1];
        }
        scores[k] = score;
        ret_indices[k] = i;
    }
    *ret_count = found;
    return VIAL_OK;
}
