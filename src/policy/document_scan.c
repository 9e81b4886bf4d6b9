/* document_scan.c - what an environment says about the scanner: what it does, and rules beside
 * ours. Whether a rule can be read is found out by the cell that compiles it, when the environment
 * is started. */
#include <stdlib.h>
#include <string.h>

#include "policy/document_check.h"

enum {
    NAME_BYTES_MAX = 64,
    RULES_BYTES_MAX = 256 * 1024, /* as code/scanner.h has them */
};

void document_scan_release(struct document *doc)
{
    size_t i;

    for (i = 0; i < doc->scan_rules_count; i++) {
        free((void *)(uintptr_t)doc->scan_rules[i].name);
        free((void *)(uintptr_t)doc->scan_rules[i].text);
    }
    free(doc->scan_rules);
}

static void check_rules(struct document_check *c, json_t *value)
{
    struct document *doc = c->doc;
    const char *name;
    json_t *text;
    size_t before;

    if (!must_be_object(c, value, VIAL_SCAN_RULES_MAX, "files of rules")) {
        return;
    }
    doc->scan_rules = check_array_new(c, json_object_size(value), sizeof(*doc->scan_rules));
    json_object_foreach(value, name, text)
    {
        before = check_enter(c, name);
        if (name[0] == '\0' || strlen(name) > NAME_BYTES_MAX) {
            check_say(c, "the name of a file of rules has 1 to %d bytes", NAME_BYTES_MAX);
        } else if (doc->scan_rules != NULL) {
            struct vial_scan_rules *rules = &doc->scan_rules[doc->scan_rules_count++];

            rules->name = strdup(name);
            rules->text = must_be_string(c, text, RULES_BYTES_MAX);
            rules->len = rules->text != NULL ? strlen(rules->text) : 0;
            if (rules->name == NULL) {
                check_no_memory(c);
            }
        }
        check_leave(c, before);
    }
}

void document_check_scan(struct document_check *c, json_t *value)
{
    static const char *const known[] = {"mode", "rules", NULL};
    static const char *const modes[] = {"off", "warn", "block", NULL};
    static const uint32_t numbers[] = {VIAL_SCAN_AUTO, VIAL_SCAN_WARN, VIAL_SCAN_BLOCK};
    json_t *rules = json_object_get(value, "rules");
    size_t before;

    if (value == NULL || !must_be_object(c, value, SIZE_MAX, "keys")) {
        return;
    }
    check_keys(c, value, known);
    c->doc->scan_mode = numbers[check_choice(c, value, "mode", modes)];
    if (rules != NULL) {
        before = check_enter(c, "rules");
        check_rules(c, rules);
        check_leave(c, before);
    }
}
