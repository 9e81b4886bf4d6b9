/* document.h - what an environment is: a JSON document, its rules, and what it says as plain C.
 *
 * An environment is written by a person or a program as one JSON object. Nothing of it is used
 * before all of it has passed the rules here, and a document that does not pass is answered with
 * every rule that it breaks and where, so that its writer can put all of it right at once.
 * share/environment.schema.json says the same rules as a JSON Schema, as far as one can.
 *
 * Nothing here looks at a disk or a network: that a directory is there, or that a prefix runs, is
 * found out by whoever starts the environment. */
#ifndef VIAL_POLICY_DOCUMENT_H
#define VIAL_POLICY_DOCUMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "policy/audit_rules.h"
#include "policy/permission.h"
#include "vial.h"

enum {
    /* A document is held in memory several times while it is checked, and travels in one request.
     * It has room for a large library as its modules; data belongs into mounts. */
    DOCUMENT_BYTES_MAX = 16 << 20,
    /* Schemas nest some ten levels deep. Readers of JSON recurse, and so do we. */
    DOCUMENT_DEPTH_MAX = 64,
    /* Each value costs up to a hundred bytes once it is read, so 16 MiB of "0,0,0" would cost a
     * gigabyte. A thousand tools with schemas of a hundred fields have a third of this. */
    DOCUMENT_VALUES_MAX = 1000000,
    DOCUMENT_NAME_BYTES_MAX = 64,          /* a name is typed by people and shown in tables */
    DOCUMENT_DESCRIPTION_BYTES_MAX = 8192, /* models read it with every prompt: two pages */
    DOCUMENT_TOOLS_MAX = 1000, /* more than ten times what a model can choose from with success */
    DOCUMENT_TOOL_NAME_BYTES_MAX = 128,
    DOCUMENT_TOOL_NAME_PARTS_MAX = 8,    /* each is an object that the guest walks through */
    DOCUMENT_SCHEMA_BYTES_MAX = 1 << 20, /* of one schema; it is compiled into several times that */
    DOCUMENT_GLOBALS_MAX = 1000,
    DOCUMENT_MOUNTS_MAX = 64,         /* each is a mount in every cell */
    DOCUMENT_HEADERS_MAX = 100,       /* what servers take */
    DOCUMENT_HEADER_BYTES_MAX = 8192, /* likewise; a signed token has up to four thousand */
    DOCUMENT_URL_BYTES_MAX = 8192,
    DOCUMENT_WORDS_MAX = 1000,           /* of a command */
    DOCUMENT_WORDS_BYTES_MAX = 1 << 20,  /* of a command; the kernel's habit is 2 MB */
    DOCUMENT_FAULTS_MAX = 1000,          /* that are reported; nobody reads more */
    DOCUMENT_REPORT_BYTES_MAX = 8 << 20, /* what a report of that many needs at most */

    /* Of one tool, when the document does not say, and at most. A minute is longer than a program
     * waits for an answer; a day is the longest that a run may take. */
    DOCUMENT_TOOL_MS = 60000,
    DOCUMENT_TOOL_MS_MAX = 86400000,
    /* A program that calls a tool a thousand times has a loop, which is what programs are for; one
     * that calls it a million times has run away. */
    DOCUMENT_TOOL_CALLS = 1000,
    DOCUMENT_TOOL_CALLS_MAX = 1000000,
    /* Sixteen at once are kind to most servers; each takes a thread of the host. */
    DOCUMENT_TOOL_CONCURRENCY = 16,
    DOCUMENT_TOOL_CONCURRENCY_MAX = 1000,
    /* Arguments are small and answers larger; the host holds both in memory. */
    DOCUMENT_TOOL_INPUT_BYTES = 1 << 20,
    DOCUMENT_TOOL_OUTPUT_BYTES = 16 << 20,
    DOCUMENT_TOOL_VALUE_BYTES_MIN = 64, /* holds any number or short word */
    DOCUMENT_TOOL_VALUE_BYTES_MAX = 64 << 20,
};

/* Texts, each of which ends in NUL. items has its type so that it can be handed on as a const char
 * *const *. */
struct document_strings {
    const char **items; /* owned, and what it points to */
    size_t count;
};

/* Who answers the calls of a tool. */
enum document_executor {
    DOCUMENT_BY_HOST = 0, /* a function of the host program */
    DOCUMENT_BY_HTTP = 1,
    DOCUMENT_BY_EXEC = 2,
};

struct document_tool {
    char *name;        /* "crm.find" */
    char *description; /* or NULL */
    char *input;       /* a JSON Schema as JSON text, or NULL */
    char *output;      /* likewise */
    int sync;          /* not 0: the guest gets the answer and not a promise of it */
    int approve;       /* not 0: each call is approved by somebody before it is made */
    uint32_t timeout_ms;
    uint32_t calls_max;       /* in one run */
    uint32_t concurrency_max; /* at the same time in one run */
    uint64_t input_bytes_max;
    uint64_t output_bytes_max;
    int executor;                     /* enum document_executor */
    char *url;                        /* of DOCUMENT_BY_HTTP */
    struct document_strings headers;  /* likewise: "Name: value" */
    struct document_strings command;  /* of DOCUMENT_BY_EXEC: the program and its arguments */
    struct document_strings exec_env; /* likewise: "NAME=value" */
    char *exec_cwd;                   /* likewise; or NULL */
};

struct document_module {
    char *name;
    char *source;
    size_t source_len;
};

struct document_global {
    char *name;
    char *json; /* its value unless a run gives another */
};

struct document_file {
    char *name; /* beneath /home/vial, without that */
    char *bytes;
    size_t len;
};

struct document_mount {
    char *name; /* beneath /home/vial, without that */
    char *from; /* an absolute directory of the host */
};

/* What a document says. Whatever it does not say has its default here. */
struct document {
    char *name;
    char *description; /* or NULL */
    uint32_t language; /* enum vial_language */
    char *prefix;      /* never NULL */
    size_t prefix_len;
    int entry_is_main; /* a run's value is what its function main returns */
    struct document_module *modules;
    size_t modules_count;
    struct document_tool *tools;
    size_t tools_count;
    struct document_global *globals;
    size_t globals_count;
    struct permission *permissions;   /* never NULL in a document that was read */
    int files_allowed;                /* 0: they say that no run may have any */
    struct document_strings packages; /* of Python, that are there at once */
    int imports_restricted;           /* not 0: programs may import only these */
    struct document_strings allowed_imports;
    uint32_t scan_mode; /* enum vial_scan: AUTO, WARN or BLOCK */
    struct vial_scan_rules *scan_rules;
    size_t scan_rules_count;
    struct audit_rules audit;      /* what of its runs a server writes down */
    struct vial_limits limits;     /* of a run that asks for none; resolved */
    struct vial_limits limits_max; /* what a run may ask for; resolved */
    struct document_strings env;   /* "NAME=value" */
    char *cwd;                     /* or NULL */
    struct document_file *files;
    size_t files_count;
    struct document_mount *mounts;
    size_t mounts_count;
};

/* Checks that belong to other parts of vial, and so come from the caller. Each returns 0, or -1
 * with what is wrong in why, as the rest of a sentence about the name or the schema. */
struct document_checks {
    /* May a module be called that? full gets the one name that it has, however it is spelled. */
    int (*module_name)(const char *name, size_t len, struct buf *full, char *why, size_t why_size);
    /* Is that a JSON Schema? It is an object or a boolean. */
    int (*schema)(const char *json, size_t len, char *why, size_t why_size);
};

/* Reads and checks a document. On success *ret belongs to the caller, and report has "[]".
 * VIAL_E_INVALID when the document breaks rules: report then has an array of {"path": JSON pointer,
 * "message": sentence}, one for each, up to DOCUMENT_FAULTS_MAX; err has the first. report is empty
 * before and takes DOCUMENT_REPORT_BYTES_MAX bytes. checks may be NULL, and so may each of it: then
 * these are not made. */
VIAL_NODISCARD int document_parse(const char *json, size_t len,
    const struct document_checks *checks, struct document **ret, struct buf *report,
    struct vial_error *err);
void document_free(struct document *document);

/* May runs call the tool, by the permissions of the document? */
int document_allows_tool(const struct document *document, const char *tool);

#endif
