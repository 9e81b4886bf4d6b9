/* session.c - classes Session and Environment. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BRANCHES_MAX = 1000 }; /* at once; an engine has fewer sessions anyway */

/* ---- sessions ---- */

PyObject *session_make(
    struct engine_object *engine, struct vial_session *session, PyObject *env, PyObject *tools)
{
    struct session_object *self =
        (struct session_object *)PyType_GenericAlloc((PyTypeObject *)binding.session_type, 0);

    if (self == NULL) {
        vial_session_free(session);
        return NULL;
    }
    self->session = session;
    Py_INCREF((PyObject *)engine);
    self->engine = engine;
    Py_XINCREF(env);
    self->environment = env;
    Py_XINCREF(tools);
    self->tools = tools;
    self->next = engine->sessions;
    if (self->next != NULL) {
        self->next->prev = self;
    }
    engine->sessions = self;
    return (PyObject *)self;
}

struct vial_session *session_use(struct session_object *self)
{
    if (self->session == NULL || self->is_closing) {
        PyErr_SetString(binding.gone, "the session is closed");
        return NULL;
    }
    return engine_use(self->engine) != NULL ? self->session : NULL;
}

/* Frees it; nobody uses it. */
void session_shut(struct session_object *self)
{
    struct vial_session *session = self->session;

    if (session == NULL) {
        return;
    }
    self->session = NULL;
    if (self->prev != NULL) {
        self->prev->next = self->next;
    } else {
        self->engine->sessions = self->next;
    }
    if (self->next != NULL) {
        self->next->prev = self->prev;
    }
    if (self->engine->pid == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        vial_session_free(session);
        Py_END_ALLOW_THREADS;
    }
}

static PyObject *session_close(PyObject *object, PyObject *unused)
{
    struct session_object *self = (struct session_object *)object;

    (void)unused;
    if (self->users > 0 && self->session != NULL && self->engine->pid == getpid()) {
        self->is_closing = 1;
        vial_session_end(self->session);
    } else {
        session_shut(self);
    }
    Py_RETURN_NONE;
}

static void session_begin(struct session_object *self, struct waiting *w)
{
    *w = (struct waiting){.engine = self->engine, .session = self->session};
    self->users++;
    Py_INCREF((PyObject *)self);
    waiting_begin(w);
}

static int session_end(struct session_object *self, struct waiting *w)
{
    int r = waiting_end(w);

    self->users--;
    if (self->users == 0 && self->is_closing) {
        PyObject *type, *value, *trace;

        PyErr_Fetch(&type, &value, &trace);
        session_shut(self);
        PyErr_Restore(type, value, trace);
    }
    Py_DECREF((PyObject *)self);
    return r;
}

static PyObject *session_result(struct request *q, int r, int interrupted,
    struct vial_result *result, const struct vial_error *err)
{
    if (interrupted) {
        vial_result_free(result);
        return NULL;
    }
    if (r < 0) {
        return raise_vial(err);
    }
    if (q->failed != NULL) {
        vial_result_free(result);
        PyErr_SetObject((PyObject *)Py_TYPE(q->failed), q->failed);
        return NULL;
    }
    return result_make(result, q->context);
}

static PyObject *session_eval(PyObject *object, PyObject *args)
{
    struct session_object *self = (struct session_object *)object;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    PyObject *source, *options, *made = NULL;
    struct vial_session *session;
    struct request q;
    struct waiting w;
    int r, interrupted;

    if (!PyArg_ParseTuple(args, "OO:eval", &source, &options)) {
        return NULL;
    }
    if (request_fill(&q, source, options) == 0 && (session = session_use(self)) != NULL) {
        session_begin(self, &w);
        r = vial_session_eval(session, &q.request, &result, &err);
        interrupted = session_end(self, &w) < 0;
        made = session_result(&q, r, interrupted, result, &err);
    }
    request_release(&q);
    return made;
}

static PyObject *session_call(PyObject *object, PyObject *args)
{
    struct session_object *self = (struct session_object *)object;
    PyObject *arguments, *options, *made = NULL;
    struct encoded e = {.is_cbor = 0};
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    struct vial_session *session;
    unsigned long long handle, bytes_max;
    struct request q;
    struct waiting w;
    int r, interrupted, depth_max;

    if (!PyArg_ParseTuple(args, "KO!OiK:call", &handle, &PyList_Type, &arguments, &options,
            &depth_max, &bytes_max)) {
        return NULL;
    }
    if (request_fill_session(&q, options) == 0 &&
        encode_value(arguments, "args", q.context, depth_max, (size_t)bytes_max, &e) == 0 &&
        (session = session_use(self)) != NULL) {
        q.request.input_is_cbor = (uint32_t)e.is_cbor;
        session_begin(self, &w);
        r = vial_session_call(
            session, handle, e.bytes.data, e.bytes.len, &q.request, &result, &err);
        interrupted = session_end(self, &w) < 0;
        made = session_result(&q, r, interrupted, result, &err);
    }
    bytes_release(&e.bytes);
    request_release(&q);
    return made;
}

static PyObject *session_release(PyObject *object, PyObject *args)
{
    struct session_object *self = (struct session_object *)object;
    struct vial_error err = {.code = 0};
    struct vial_session *session = session_use(self);
    unsigned long long handle;
    struct waiting w;
    int r, interrupted;

    if (session == NULL || !PyArg_ParseTuple(args, "K:release", &handle)) {
        return NULL;
    }
    session_begin(self, &w);
    r = vial_session_release(session, handle, &err);
    interrupted = session_end(self, &w) < 0;
    if (interrupted) {
        return NULL;
    }
    if (r < 0) {
        return raise_vial(&err);
    }
    Py_RETURN_NONE;
}

static PyObject *session_branch(PyObject *object, PyObject *args)
{
    struct session_object *self = (struct session_object *)object;
    struct vial_session *session = session_use(self);
    struct vial_session **branches = NULL;
    struct vial_error err = {.code = 0};
    PyObject *list = NULL;
    struct waiting w;
    unsigned count;
    int r, interrupted;

    if (session == NULL || !PyArg_ParseTuple(args, "I:branch", &count)) {
        return NULL;
    }
    if (count == 0 || count > BRANCHES_MAX) {
        PyErr_Format(PyExc_ValueError, "there can be 1 to %d branches at once", BRANCHES_MAX);
        return NULL;
    }
    branches = calloc(count, sizeof(struct vial_session *));
    if (branches == NULL) {
        return PyErr_NoMemory();
    }
    session_begin(self, &w);
    r = vial_session_branch(session, count, branches, &err);
    interrupted = session_end(self, &w) < 0;
    if (r < 0 && !interrupted) {
        (void)raise_vial(&err);
    } else if (r == 0) {
        list = interrupted ? NULL : PyList_New((Py_ssize_t)count);
        for (unsigned i = 0; i < count; i++) {
            PyObject *one = list != NULL ? session_make(self->engine, branches[i],
                                               self->environment, self->tools)
                                         : NULL;

            if (list == NULL) {
                vial_session_free(branches[i]);
            } else if (one == NULL || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) {
                Py_CLEAR(list);
            }
        }
    }
    free((void *)branches);
    return list;
}

static PyObject *session_cancel(PyObject *object, PyObject *unused)
{
    struct session_object *self = (struct session_object *)object;

    (void)unused;
    if (self->session != NULL && self->engine->pid == getpid()) {
        vial_session_cancel(self->session);
    }
    Py_RETURN_NONE;
}

static PyObject *session_info(PyObject *object, PyObject *unused)
{
    struct vial_session *session = session_use((struct session_object *)object);
    struct vial_session_info i = VIAL_SESSION_INFO_INIT;

    (void)unused;
    if (session == NULL) {
        return NULL;
    }
    vial_session_info(session, &i);
    return Py_BuildValue("{s:I,s:K,s:K,s:K,s:K,s:I,s:K,s:I,s:s,s:s}", "state", i.state, "id",
        (unsigned long long)i.id, "parent_id", (unsigned long long)i.parent_id, "eval_count",
        (unsigned long long)i.eval_count, "memory_bytes", (unsigned long long)i.memory_bytes,
        "file_count", i.file_count, "file_bytes", (unsigned long long)i.file_bytes, "branch_count",
        i.branch_count, "name", i.name, "ended", i.ended);
}

static PyObject *session_complete(PyObject *object, PyObject *args)
{
    struct session_object *self = (struct session_object *)object;
    struct vial_session *session = session_use(self);
    struct vial_error err = {.code = 0};
    PyObject *names = NULL;
    char *json = NULL;
    const char *text;
    Py_ssize_t len;
    struct waiting w;
    int r;

    if (session == NULL || !PyArg_ParseTuple(args, "s#:complete", &text, &len)) {
        return NULL;
    }
    session_begin(self, &w);
    r = vial_session_complete(session, text, (size_t)len, &json, &err);
    if (session_end(self, &w) == 0) {
        names = r < 0 ? raise_vial(&err) : decode_json(json, strlen(json));
    }
    vial_text_free(json);
    return names;
}

static void session_dealloc(PyObject *object)
{
    struct session_object *self = (struct session_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    session_shut(self);
    Py_XDECREF(self->environment);
    Py_XDECREF(self->tools);
    Py_XDECREF((PyObject *)self->engine);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

PyObject *session_type_new(void)
{
    static PyMethodDef methods[] = {{"eval", session_eval, METH_VARARGS, NULL},
        {"call", session_call, METH_VARARGS, NULL},
        {"release", session_release, METH_VARARGS, NULL},
        {"branch", session_branch, METH_VARARGS, NULL},
        {"cancel", session_cancel, METH_NOARGS, NULL}, {"info", session_info, METH_NOARGS, NULL},
        {"complete", session_complete, METH_VARARGS, NULL},
        {"close", session_close, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)session_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Session",
        .basicsize = sizeof(struct session_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}

/* ---- environments ---- */

static PyObject *environment_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct environment_object *self;
    struct engine_object *engine;
    const struct vial_tool *tools = NULL;
    struct vial_error err = {.code = 0};
    struct vial_engine *e;
    struct vial_env *env = NULL;
    PyObject *owner, *set;
    const char *document;
    Py_ssize_t len;
    size_t count = 0;
    int r;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "Os#O:Environment", &owner, &document, &len, &set)) {
        return NULL;
    }
    engine = (struct engine_object *)owner;
    e = engine_use(engine);
    if (e == NULL || (set != Py_None && tools_get(set, &tools, &count) < 0)) {
        return NULL;
    }
    r = vial_env_new(e, document, (size_t)len, tools, count, &env, &err);
    if (r < 0) {
        return raise_vial(&err);
    }
    self = (struct environment_object *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        vial_env_free(env);
        return NULL;
    }
    self->env = env;
    Py_INCREF(owner);
    self->engine = engine;
    Py_INCREF(set);
    self->tools = set;
    self->next = engine->environments;
    if (self->next != NULL) {
        self->next->prev = self;
    }
    engine->environments = self;
    return (PyObject *)self;
}

void environment_shut(struct environment_object *self)
{
    struct vial_env *env = self->env;

    if (env == NULL) {
        return;
    }
    self->env = NULL;
    if (self->prev != NULL) {
        self->prev->next = self->next;
    } else {
        self->engine->environments = self->next;
    }
    if (self->next != NULL) {
        self->next->prev = self->prev;
    }
    if (self->engine->pid == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        vial_env_free(env);
        Py_END_ALLOW_THREADS;
    }
}

static void environment_dealloc(PyObject *object)
{
    struct environment_object *self = (struct environment_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    environment_shut(self);
    Py_XDECREF(self->tools);
    Py_XDECREF((PyObject *)self->engine);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *environment_start(PyObject *object, PyObject *unused)
{
    struct environment_object *self = (struct environment_object *)object;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    struct waiting w = {.engine = self->engine};
    PyObject *made = NULL;
    int r;

    (void)unused;
    if (self->env == NULL) {
        PyErr_SetString(binding.gone, "the environment is closed");
        return NULL;
    }
    if (engine_use(self->engine) == NULL) {
        return NULL;
    }
    Py_INCREF(object);
    waiting_begin(&w);
    r = vial_env_start(self->env, &result, &err);
    if (waiting_end(&w) < 0) {
        vial_result_free(result);
    } else {
        made = r < 0 ? raise_vial(&err) : result_make(result, NULL);
    }
    Py_DECREF(object);
    return made;
}

PyObject *environment_type_new(void)
{
    static PyMethodDef methods[] = {
        {"start", environment_start, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, (void *)environment_new},
        {Py_tp_dealloc, (void *)environment_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Environment",
        .basicsize = sizeof(struct environment_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}
