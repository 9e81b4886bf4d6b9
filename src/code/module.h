/* module.h - makes an ES module, a CommonJS module or a script one function that the engine can
 * run, and tells what it imports and exports.
 *
 * The engine's C API knows no modules. A module becomes the text of a function whose body is the
 * source:
 *
 *     plain   (function vial_main(vial$x,vial$v,vial$i,vial$m){"use strict";const a=vial$v[0];
 *             vial$x([()=>b]);  ... source ...  })
 *     exact   (function(vial$x,vial$v,vial$i,vial$m,vial$c,vial$w){with(vial$v){return
 *             function*vial_main(){"use strict";vial$x([()=>b]);yield;  ... source ...  }}})
 *
 *   vial$x   takes a function for each export that gives its value; and the function that is the
 *            default export without having a name
 *   vial$v   what is imported: an array of values, or (exact) an object with a getter for each name
 *   vial$i   import()
 *   vial$m   import.meta
 *   vial$c   (exact) gives back what it is given: a call of an imported name must not be the call
 *            of a method of vial$v
 *   vial$w   (exact) what a module with a top-level await waits for before it runs
 *
 * The plain form is for modules whose imports have their final value when they start. The exact
 * form has live bindings; and its function can be called before the modules it imports have run:
 * up to `yield` it only makes its functions, which modules around a cycle may call.
 *
 * A module with a top-level await has an async function; exact it is not a generator but waits.
 *
 * CommonJS is (function vial_main(exports,require,module,__filename,__dirname,vial$i){ ... }). A
 * script with import() has vial$i in its place and expects it as a global. */
#ifndef VIAL_CODE_MODULE_H
#define VIAL_CODE_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/change.h"
#include "code/parse.h"
#include "vial.h"

enum module_kind {
    MODULE_AUTO = 0, /* a module when it has import, export or import.meta, else a script */
    MODULE_SCRIPT = 1,
    MODULE_ES = 2,
    MODULE_COMMONJS = 3,
};

enum module_flag {
    MODULE_EXACT = 1,       /* the exact form, see above */
    MODULE_MAIN = 2,        /* the function returns the value of the last statement */
    MODULE_NOT_WRAPPED = 4, /* a script with await is left as it is */
    MODULE_REQUIRED = 8,    /* what is not an ES module is a CommonJS module and not a script */
    MODULE_BY_TREE = 16,    /* read by its tree alone: for tests that compare */
};

/* A piece of struct module's strings. */
struct module_text {
    uint32_t at, len;
};

/* A module that this one asks for. */
struct module_request {
    struct module_text specifier;
    struct module_text type; /* of an import attribute */
    uint32_t has_type;
    uint32_t line, column;
};

enum module_binding {
    BINDING_LOCAL = 0,     /* an export of a variable of its own */
    BINDING_NAME = 1,      /* a name of another module */
    BINDING_NAMESPACE = 2, /* all of another module as one object */
    BINDING_STAR = 3,      /* export * from */
};

struct module_import {
    uint32_t binding; /* NAME or NAMESPACE */
    uint32_t request;
    struct module_text imported; /* NAME */
    struct module_text local;
};

struct module_export {
    uint32_t binding;
    uint32_t request;            /* not LOCAL */
    struct module_text name;     /* not STAR */
    struct module_text imported; /* NAME */
    struct module_text local;    /* LOCAL: whose function vial$x gets; they come in this order */
    uint32_t may_change;         /* LOCAL: after the module has run */
    uint32_t is_declaration;     /* export const a, and the like */
    uint32_t line, column;
};

struct module {
    int kind; /* never AUTO */
    int is_async;
    int is_wrapped;       /* a script with a top-level await or return: its value is a promise */
    int has_import_calls; /* a script that needs the global vial$i */
    int has_errors;       /* the grammar does not understand all of it; the engine may */
    struct rewrite rewrite;
    struct buf strings;
    struct buf requests; /* struct module_request */
    struct buf imports;  /* struct module_import, in the order of vial$v */
    struct buf exports;  /* struct module_export */
    /* A syntax error that the engine cannot find, since it never sees the statement; empty when
     * there is none. */
    char fault[160];
    uint32_t fault_line, fault_column;
};

/* 0 when source has neither of the words import and export, so there is no need to read it. */
int module_may_be(const char *source, size_t len);

/* The tree of a source; it is read a second time when it has errors that only the grammar sees. The
 * caller deletes the tree. */
VIAL_NODISCARD int module_parse(
    const char *source, size_t len, enum module_kind kind, TSTree **ret, struct vial_error *err);

/* Reads source, which is UTF-8. VIAL_E_INVALID: it is over a maximum of parse.h. *ret is the
 * caller's to release, also after a failure. */
VIAL_NODISCARD int module_read(const char *source, size_t len, enum module_kind kind,
    unsigned flags, struct module *ret, struct vial_error *err);
void module_release(struct module *m);

#endif
