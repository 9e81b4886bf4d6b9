/* binding.h - what the files of the extension module vial._vial share.
 *
 * The module is a thin layer over vial.h, in CPython's limited API, so that one binary serves every
 * CPython from 3.9 on. Everything here is called with the GIL held unless it says otherwise; what
 * waits for a guest lets go of it. */
#ifndef VIAL_PYTHON_BINDING_H
#define VIAL_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>

#include <pthread.h>
#include <sys/types.h>

#include "vial.h"

/* ---- what the module knows, set when it is imported ---- */

struct binding {
    PyObject *error;       /* vial.VialError: vial itself could not do its job */
    PyObject *gone;        /* vial.ClosedError: closed, ended, or made before a fork */
    PyObject *simplify;    /* _values.simplify(object, context): one that C can write */
    PyObject *restore;     /* _values.restore(kind, value, context): of one that C cannot make */
    PyObject *undefined;   /* _values.undefined */
    PyObject *json_decode; /* json.JSONDecoder().decode */
    PyObject
        *json_decode_long; /* the same, which takes integers of more than 15 digits as doubles */
    PyObject *tagged_type; /* class Tagged below */
    PyObject *run_type, *session_type, *environment_type, *tools_type, *result_type;
};
extern struct binding binding;

/* Sets a Python exception that fits the code. Always NULL. */
PyObject *raise_vial(const struct vial_error *err);

/* ---- bytes that grow ---- */

struct bytes {
    char *data;
    size_t len, capacity;
};
void bytes_release(struct bytes *b);
/* 0, or -1 with MemoryError set. */
int bytes_add(struct bytes *b, const void *data, size_t len);

/* ---- values ---- */

/* More levels than the cells themselves would take are refused before anything is sent. */
enum { VALUE_DEPTH_MAX = 100 };

struct encoded {
    struct bytes bytes;
    int is_cbor;
};

/* Writes a value as JSON, or as CBOR when JSON cannot say it. what begins the path in messages, for
 * instance "input". depth_max and bytes_max may lower the limits (0: as they are). 0, or -1 with an
 * exception. */
int encode_value(PyObject *value, const char *what, PyObject *context, int depth_max,
    size_t bytes_max, struct encoded *ret);

/* A new reference, or NULL with an exception. */
PyObject *decode_cbor(const char *bytes, size_t len, PyObject *context);
PyObject *decode_json(const char *bytes, size_t len);

PyObject *tagged_type_new(void);
/* The tag and the value of an instance; 0, or -1 with an exception. Borrowed. */
int tagged_get(PyObject *object, unsigned long long *ret_tag, PyObject **ret_value);

/* ---- waiting, and Ctrl-C ---- */

/* Somebody waits for a run or a session: closing the engine, or Ctrl-C, cancels it. */
struct engine_object;
struct waiting {
    struct waiting *next, *prev; /* of all of the engine */
    struct waiting *next_main;   /* of those of the main thread */
    struct engine_object *engine;
    struct vial_run *run;
    struct vial_session *session;
    PyThreadState *thread; /* what waiting_end takes back */
    pthread_t waiter;
    int is_main;
    int is_counted; /* it is for a run or a session */
};
/* Lets go of the GIL. */
void waiting_begin(struct waiting *w);
/* Takes the GIL. 0, or -1 with an exception that a signal handler, or an inline tool, raised. */
int waiting_end(struct waiting *w);
void interrupt_setup(void);
/* A number that can be read from it says that there was a SIGINT while somebody waited; -1 with
 * errno set when there cannot be one. It stays the binding's. */
int interrupt_open(void);
void waiting_cancel(struct waiting *w);

/* An exception such as KeyboardInterrupt that an inline tool raised: takes it over and cancels what
 * this thread waits for. 0 when this thread waits for nothing; then it is not taken. */
int waiting_take_exception(void);

/* ---- the classes ---- */

struct engine_object {
    PyObject_HEAD struct vial_engine *engine; /* NULL when closed */
    pid_t pid;                                /* that made it */
    int is_closing;
    unsigned waiting_count;
    struct waiting *waiting;
    struct session_object *sessions;
    struct environment_object *environments;
};

struct session_object {
    PyObject_HEAD struct session_object *next, *prev; /* of all of the engine that are open */
    struct engine_object *engine;                     /* a reference */
    struct vial_session *session;                     /* NULL when closed */
    PyObject *environment;                            /* a reference, or NULL */
    PyObject *tools;                                  /* likewise */
    PyObject *on_output_error;
    unsigned users; /* calls in progress */
    int is_closing; /* the last user frees it */
};

struct environment_object {
    PyObject_HEAD struct environment_object *next, *prev;
    struct engine_object *engine;
    struct vial_env *env;
    PyObject *tools;
    unsigned users;
};

PyObject *engine_type_new(void);
PyObject *session_type_new(void);
PyObject *environment_type_new(void);
PyObject *run_type_new(void);
PyObject *tools_type_new(void);
PyObject *result_type_new(void);

/* The engine when it can be used here; else NULL with an exception. */
struct vial_engine *engine_use(struct engine_object *self);
struct vial_session *session_use(struct session_object *self);
PyObject *session_make(
    struct engine_object *engine, struct vial_session *session, PyObject *env, PyObject *tools);
void session_shut(struct session_object *self);
void environment_shut(struct environment_object *self);

/* Takes over the result. */
PyObject *result_make(struct vial_result *result, PyObject *context);

/* The tools of a set; 0, or -1 with an exception. */
int tools_get(PyObject *set, const struct vial_tool **ret, size_t *ret_count);
/* What the functions of tools get as the place where a call comes from. */
int tools_approve(struct vial_engine *engine, const struct vial_call *call, void *user);
PyObject *tools_answer(PyObject *module, PyObject *args);
PyObject *tools_fail(PyObject *module, PyObject *args);
PyObject *tools_approve_later(PyObject *module, PyObject *args);
int tools_setup(void);
/* From now on nothing of Python is called any more. */
void tools_stop(void);

/* ---- requests ---- */

/* A request and all that it points to. */
struct request {
    struct vial_request request;
    struct vial_session_options options; /* for sessions, of the same parts */
    struct vial_limits limits;
    struct encoded input;
    PyObject *keep; /* a list of the objects that own the strings */
    struct vial_file *files;
    struct vial_module *modules;
    const char **outs, **env, **args;
    PyObject *on_output;  /* or NULL */
    PyObject *on_approve; /* or NULL */
    PyObject *environment, *tools;
    PyObject *context; /* for functions in values */
    PyObject *failed;  /* what on_output raised first, or NULL */
};

/* Fills it from a dict of the names of docs/python-binding.md. It must stay where it is until
 * request_release. 0, or -1 with an exception. */
int request_fill(struct request *q, PyObject *source, PyObject *options);
int request_fill_session(struct request *q, PyObject *options);
void request_release(struct request *q);

#endif
