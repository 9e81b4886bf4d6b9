/* document_audit.c - what an environment says about the audit: what of its runs is written down. */
#include <stdlib.h>
#include <string.h>

#include "policy/document_check.h"

static void check_redact(struct document_check *c, json_t *value)
{
    struct audit_rules *rules = &c->doc->audit;
    json_t *item;
    size_t i, before;

    if (!must_be_array(c, value, AUDIT_REDACT_MAX, "patterns")) {
        return;
    }
    rules->redact = check_array_new(c, json_array_size(value), sizeof(*rules->redact));
    json_array_foreach(value, i, item)
    {
        char *pattern;

        before = check_enter_index(c, i);
        pattern = must_be_string(c, item, AUDIT_REDACT_BYTES_MAX);
        if (pattern != NULL && audit_redact_fault(pattern, strlen(pattern)) != NULL) {
            check_say(c, "a pattern %s", audit_redact_fault(pattern, strlen(pattern)));
        }
        if (pattern != NULL && rules->redact != NULL) {
            rules->redact[rules->redact_count++] = pattern;
        } else {
            free(pattern);
        }
        check_leave(c, before);
    }
}

void document_check_audit(struct document_check *c, json_t *value)
{
    static const char *const known[] = {"code", "input", "output", "redact", NULL};
    struct audit_rules *rules = &c->doc->audit;
    json_t *redact = json_object_get(value, "redact");
    size_t before;

    rules->code = 1;
    if (value == NULL || !must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    rules->code = check_bool(c, value, "code", 1);
    rules->input = check_bool(c, value, "input", 0);
    rules->output = check_bool(c, value, "output", 0);
    if (redact != NULL) {
        before = check_enter(c, "redact");
        check_redact(c, redact);
        check_leave(c, before);
    }
}
