/* session_walk.h - goes once over a tree and tells what binds and assigns names: part of session.c.
 */
#ifndef VIAL_CODE_SESSION_WALK_H
#define VIAL_CODE_SESSION_WALK_H

#include "code/parse.h"

/* Where a `var` stands, which decides what may become of it. */
enum var_place {
    VAR_IN_LIST,   /* among statements: there may be semicolons around it */
    VAR_ALONE,     /* the only statement of an if, a loop or a label */
    VAR_IN_FOR,    /* the head of a for with two semicolons */
    VAR_IN_FOR_IN, /* the head of a for-in or for-of; the node is the whole loop */
};

/* What is called on the way; user is the caller's. */
struct session_walk_ops {
    /* A `var` outside of functions: the declaration, or the loop. */
    void (*see_var)(TSNode node, enum var_place place, void *user);
    /* A name that an assignment writes to, also with an operator, as part of a pattern, or as the
     * variable of a loop that does not declare it. */
    void (*see_target)(TSNode name, void *user);
    /* A name where it is declared: by a declaration, a parameter, a function, a class or a catch,
     * at any depth. A default value may be taken for one. */
    void (*see_binding)(TSNode name, void *user);
    /* A direct eval or a `with`: names may mean something that the text does not tell. */
    void (*see_unknown)(void *user);
};

/* import statements are passed over. len is that of the source. */
VIAL_NODISCARD int session_walk(TSNode root, const char *source, size_t len,
    const struct session_walk_ops *ops, void *user, struct vial_error *err);

#endif
