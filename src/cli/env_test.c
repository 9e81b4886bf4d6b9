/* env_test.c - `vial env test`: starts an environment once, before anybody depends on it. */
#include "cli/cli.h"
#include "cli/env.h"
#include "policy/document.h"

/* Starts the template of the environment, and tells how long its prefix took and what it uses. */
static int start_template_once(const struct document *doc, const struct store_version *version)
{
    (void)doc;
    /* NEEDSWORK: needs templates of environments, which the engine does not have yet. */
    return cli_fail(
        EXIT_OUR_FAILURE, "%s@%u cannot be started: not yet", version->name, version->version);
}

int env_test(const struct env_options *o)
{
    struct store_version version;
    struct document *doc = NULL;
    int code = env_load(o, &doc, &version, NULL);

    if (code != 0) {
        return code;
    }
    code = start_template_once(doc, &version);
    document_free(doc);
    return code;
}
