/* session.h - makes a source one that can be evaluated in a live session: behind others, in the
 * same JavaScript global.
 *
 * What a source declares outside of functions stays for later sources, which may declare it again,
 * with any word. So every such name becomes a variable of the global object:
 *
 *     const a = 1; let b;       var   a = 1; var b=void 0;;
 *     class C {}                var C=class C {};
 *     function f() {}           function f() {}
 *     import d from './d.js'    ;                       with `var d=vial$v[0];` in front of all
 *
 * A source with a top-level await or return is the body of an async function, which is called at
 * once; its declarations are assignments there and its value is that of its last statement:
 *
 *     var a,b;(async function vial_main(){
 *     const {a} = await g()     ;(    {a} = await g());
 *     function f() {}           ;
 *
 * The functions that it declares are a script of their own then, in which all else is blank. It is
 * evaluated first, since functions are there before anything else happens.
 *
 * Lines never move, and what is inserted is recorded as in script.h. A source is read by the rules
 * of ordinary runs (module.h): one with import, export or import.meta is strict code.
 *
 * What the text expects as globals, besides vial$i and vial$m of module.h:
 *
 *   vial$v   an array of what is imported
 *   vial$d   what is assigned to it is the value of the evaluation: `export default`
 *   vial$k   an object whose members are the global variables, read-only: what assigns to a
 *            constant of the same source writes to one of these. Constants of earlier sources are
 *            plain variables
 *
 * Declarations of let, const and class are no longer there for the engine to check, so what a run
 * would evaluate comes along: the engine must accept module.rewrite before anything else, and its
 * error is the one to report if it does not. */
#ifndef VIAL_CODE_SESSION_H
#define VIAL_CODE_SESSION_H

#include "code/module.h"

enum session_shape {
    SESSION_AS_IS = 0,  /* module.rewrite will do */
    SESSION_SCRIPT = 1, /* rewrite; its completion value is the value */
    SESSION_ASYNC = 2,  /* rewrite; its completion value is a promise of the value */
};

enum session_flag {
    SESSION_NOT_WRAPPED = 1, /* await is a name in this source: see MODULE_NOT_WRAPPED */
};

struct session_source {
    int shape;
    struct module module; /* the source as a run would have it, and what it imports */
    struct rewrite rewrite;
    struct rewrite functions; /* what to evaluate before rewrite, when it is not empty */
    struct buf names;         /* struct module_text, pieces of strings */
    struct buf strings;       /* the names */
};

/* Reads source, which is UTF-8. VIAL_E_INVALID: it is over a maximum of parse.h. When
 * module.has_errors the rewrite may be one that the engine refuses although it accepts
 * module.rewrite; that is then what to evaluate. *ret is the caller's to release, also after a
 * failure. */
VIAL_NODISCARD int session_read(const char *source, size_t len, unsigned flags,
    struct session_source *ret, struct vial_error *err);
void session_release(struct session_source *s);

/* The names that the source declares for later ones, each once, as they are written. */
size_t session_name_count(const struct session_source *s);
const char *session_name(const struct session_source *s, size_t index, size_t *ret_len);

#endif
