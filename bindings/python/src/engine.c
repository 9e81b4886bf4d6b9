/* engine.c - class Engine: one engine of the library, and the runs in it (class Run).
 *
 * An engine belongs to the process that made it: a fork has neither its threads nor its cells. Used
 * in another one it says so, and is left alone when it is collected there. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct run_object {
    PyObject_HEAD struct engine_object *engine;
    struct vial_run *run; /* NULL when it has been waited for */
    int is_waited;
    struct request q;
};

struct vial_engine *engine_use(struct engine_object *self)
{
    if (self->engine == NULL || self->is_closing) {
        PyErr_SetString(binding.gone, "the engine is closed");
        return NULL;
    }
    if (self->pid != getpid()) {
        PyErr_SetString(binding.gone,
            "this engine was made before a fork, and belongs to the other process; make a new one");
        return NULL;
    }
    return self->engine;
}

static int option_number(PyObject *options, const char *name, uint64_t *ret)
{
    PyObject *value = PyDict_GetItemString(options, name);

    *ret = 0;
    if (value == NULL || value == Py_None) {
        return 0;
    }
    *ret = PyLong_AsUnsignedLongLong(value);
    if (*ret == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        PyErr_Format(PyExc_ValueError, "%s must be a whole number, not %R", name, value);
        return -1;
    }
    return 0;
}

static int fill_options(struct vial_engine_options *o, PyObject *options)
{
#define OPTION(field)                                                                              \
    {                                                                                              \
#field, &o->field                                                                          \
    }
    const struct {
        const char *name;
        uint32_t *at;
    } numbers[] = {OPTION(pool_count), OPTION(runs_max), OPTION(queue_count_max),
        OPTION(queue_ms_max), OPTION(no_jit), OPTION(quick), OPTION(sessions_max),
        OPTION(tool_threads_max), OPTION(for_sessions), OPTION(language)};
#undef OPTION
    uint64_t n;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (option_number(options, numbers[i].name, &n) < 0) {
            return -1;
        }
        if (n > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "%s is too large", numbers[i].name);
            return -1;
        }
        *numbers[i].at = (uint32_t)n;
    }
    return option_number(options, "env_bytes_max", &o->env_bytes_max);
}

static int option_text(PyObject *options, const char *name, PyObject **ret_owner, const char **ret)
{
    PyObject *value = PyDict_GetItemString(options, name);

    *ret_owner = NULL;
    if (value == NULL || value == Py_None) {
        return 0;
    }
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str", name);
        return -1;
    }
    *ret_owner = PyUnicode_EncodeFSDefault(value);
    *ret = *ret_owner != NULL ? PyBytes_AsString(*ret_owner) : NULL;
    return *ret != NULL ? 0 : -1;
}

static PyObject *engine_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct vial_engine_options o = VIAL_ENGINE_OPTIONS_INIT;
    PyObject *options, *path = NULL, *require = NULL;
    struct engine_object *self = NULL;
    struct vial_engine *engine = NULL;
    struct vial_error err = {.code = 0};
    int r = -1;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!:Engine", &PyDict_Type, &options)) {
        return NULL;
    }
    if (fill_options(&o, options) == 0 &&
        option_text(options, "cell_path", &path, &o.cell_path) == 0 &&
        option_text(options, "require", &require, &o.require) == 0) {
        Py_BEGIN_ALLOW_THREADS;
        r = vial_engine_new(&o, &engine, &err);
        Py_END_ALLOW_THREADS;
        if (r < 0) {
            (void)raise_vial(&err);
        }
    }
    Py_XDECREF(path);
    Py_XDECREF(require);
    if (r == 0) {
        self = (struct engine_object *)PyType_GenericAlloc(type, 0);
        if (self == NULL) {
            vial_engine_free(engine);
            return NULL;
        }
        self->engine = engine;
        self->pid = getpid();
    }
    return (PyObject *)self;
}

/* Cancels what is waited for, ends sessions and environments, then the engine. */
static void engine_shut(struct engine_object *self)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    struct vial_engine *engine = self->engine;

    if (engine == NULL || self->is_closing || self->pid != getpid()) {
        return;
    }
    self->is_closing = 1;
    while (self->waiting_count > 0) {
        for (struct waiting *w = self->waiting; w != NULL; w = w->next) {
            waiting_cancel(w);
        }
        Py_BEGIN_ALLOW_THREADS;
        (void)nanosleep(&moment, NULL);
        Py_END_ALLOW_THREADS;
    }
    while (self->sessions != NULL) {
        session_shut(self->sessions);
    }
    while (self->environments != NULL) {
        environment_shut(self->environments);
    }
    self->engine = NULL;
    Py_BEGIN_ALLOW_THREADS;
    vial_engine_free(engine);
    Py_END_ALLOW_THREADS;
}

static PyObject *engine_close(PyObject *object, PyObject *unused)
{
    struct engine_object *self = (struct engine_object *)object;

    (void)unused;
    for (struct waiting *w = self->waiting; w != NULL; w = w->next) {
        if (pthread_equal(w->waiter, pthread_self())) { /* it would wait for itself */
            PyErr_SetString(
                PyExc_RuntimeError, "an engine cannot be closed by a tool that a run of it called");
            return NULL;
        }
    }
    engine_shut(self);
    Py_RETURN_NONE;
}

/* Cancels what other threads than the main one wait for; that one was told by its handler. */
static PyObject *engine_interrupt(PyObject *object, PyObject *unused)
{
    struct engine_object *self = (struct engine_object *)object;

    (void)unused;
    if (self->pid == getpid()) {
        for (struct waiting *w = self->waiting; w != NULL; w = w->next) {
            if (!w->is_main) {
                waiting_cancel(w);
            }
        }
    }
    Py_RETURN_NONE;
}

static void engine_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    engine_shut((struct engine_object *)object);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

/* ---- runs ---- */

static PyObject *engine_start(PyObject *object, PyObject *args)
{
    struct engine_object *self = (struct engine_object *)object;
    struct vial_engine *engine;
    PyObject *source, *options;
    struct run_object *run;
    struct vial_error err = {.code = 0};
    int r;

    if (!PyArg_ParseTuple(args, "OO:start", &source, &options)) {
        return NULL;
    }
    run = (struct run_object *)PyType_GenericAlloc((PyTypeObject *)binding.run_type, 0);
    if (run == NULL) {
        return NULL;
    }
    if (request_fill(&run->q, source, options) < 0 || (engine = engine_use(self)) == NULL) {
        Py_DECREF((PyObject *)run);
        return NULL;
    }
    Py_INCREF(object);
    run->engine = self;
    Py_BEGIN_ALLOW_THREADS;
    r = vial_run_start(engine, &run->q.request, &run->run, &err);
    Py_END_ALLOW_THREADS;
    if (r < 0) {
        Py_DECREF((PyObject *)run);
        return raise_vial(&err);
    }
    return (PyObject *)run;
}

static PyObject *run_wait(PyObject *object, PyObject *unused)
{
    struct run_object *self = (struct run_object *)object;
    struct waiting w = {.engine = self->engine, .run = self->run};
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    int r;

    (void)unused;
    if (self->is_waited || self->run == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "a run is waited for once");
        return NULL;
    }
    if (engine_use(self->engine) == NULL) {
        return NULL;
    }
    self->is_waited = 1;
    Py_INCREF(object);
    waiting_begin(&w);
    r = vial_run_wait(self->run, &result, &err);
    r = waiting_end(&w) < 0 ? -100 : r;
    if (r == -100) {
        vial_result_free(result);
        Py_DECREF(object);
        return NULL;
    }
    if (r < 0) {
        Py_DECREF(object);
        return raise_vial(&err);
    }
    if (self->q.failed != NULL) {
        vial_result_free(result);
        PyErr_SetObject((PyObject *)Py_TYPE(self->q.failed), self->q.failed);
        Py_DECREF(object);
        return NULL;
    }
    unused = result_make(result, self->q.context);
    Py_DECREF(object);
    return unused;
}

static PyObject *run_cancel(PyObject *object, PyObject *unused)
{
    struct run_object *self = (struct run_object *)object;

    (void)unused;
    if (self->run != NULL && self->engine->engine != NULL && self->engine->pid == getpid()) {
        vial_run_cancel(self->run);
    }
    Py_RETURN_NONE;
}

static void run_dealloc(PyObject *object)
{
    struct run_object *self = (struct run_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    if (self->run != NULL && self->engine->engine != NULL && self->engine->pid == getpid()) {
        struct vial_result *result = NULL;
        struct vial_error err;

        if (!self->is_waited) { /* it has begun all the same */
            vial_run_cancel(self->run);
            Py_BEGIN_ALLOW_THREADS;
            (void)!vial_run_wait(self->run, &result, &err);
            Py_END_ALLOW_THREADS;
            vial_result_free(result);
        }
        vial_run_free(self->run);
    }
    request_release(&self->q);
    Py_XDECREF((PyObject *)self->engine);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

PyObject *run_type_new(void)
{
    static PyMethodDef methods[] = {{"wait", run_wait, METH_NOARGS, NULL},
        {"cancel", run_cancel, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)run_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Run",
        .basicsize = sizeof(struct run_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}

/* ---- about the engine ---- */

static PyObject *engine_isolation(PyObject *self, PyObject *unused)
{
    struct vial_engine *engine = engine_use((struct engine_object *)self);

    (void)unused;
    return engine != NULL ? PyUnicode_FromString(vial_engine_isolation(engine)) : NULL;
}

static PyObject *engine_settle(PyObject *self, PyObject *args)
{
    struct vial_engine *engine = engine_use((struct engine_object *)self);
    unsigned ms;

    if (engine == NULL || !PyArg_ParseTuple(args, "I:settle", &ms)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    vial_engine_settle(engine, ms);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *engine_stats(PyObject *self, PyObject *unused)
{
    struct vial_engine *engine = engine_use((struct engine_object *)self);
    struct vial_engine_stats s = VIAL_ENGINE_STATS_INIT;

    (void)unused;
    if (engine == NULL) {
        return NULL;
    }
    vial_engine_stats(engine, &s);
    return Py_BuildValue("{s:I,s:I,s:I,s:K,s:i}", "ready_count", s.ready_count, "busy_count",
        s.busy_count, "template_count", s.template_count, "run_count",
        (unsigned long long)s.run_count, "template_pid", (int)s.template_pid);
}

static PyObject *engine_session(PyObject *object, PyObject *args)
{
    struct engine_object *self = (struct engine_object *)object;
    struct vial_session *session = NULL;
    struct vial_engine *engine;
    struct vial_error err = {.code = 0};
    PyObject *options, *made = NULL;
    struct request q;
    int r;

    if (!PyArg_ParseTuple(args, "O:session", &options)) {
        return NULL;
    }
    if (request_fill_session(&q, options) == 0 && (engine = engine_use(self)) != NULL) {
        struct waiting w = {.engine = self};

        waiting_begin(&w);
        r = vial_session_new(engine, &q.options, &session, &err);
        if (waiting_end(&w) < 0) {
            vial_session_free(session);
        } else if (r < 0) {
            (void)raise_vial(&err);
        } else {
            made = session_make(self, session, q.environment, q.tools);
        }
    }
    request_release(&q);
    return made;
}

static PyObject *engine_is_usable(PyObject *object, PyObject *unused)
{
    struct engine_object *self = (struct engine_object *)object;

    (void)unused;
    return PyBool_FromLong(self->engine != NULL && !self->is_closing && self->pid == getpid());
}

PyObject *engine_type_new(void)
{
    static PyMethodDef methods[] = {{"start", engine_start, METH_VARARGS, NULL},
        {"session", engine_session, METH_VARARGS, NULL}, {"close", engine_close, METH_NOARGS, NULL},
        {"isolation", engine_isolation, METH_NOARGS, NULL},
        {"settle", engine_settle, METH_VARARGS, NULL}, {"stats", engine_stats, METH_NOARGS, NULL},
        {"interrupt", engine_interrupt, METH_NOARGS, NULL},
        {"is_usable", engine_is_usable, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, (void *)engine_new},
        {Py_tp_dealloc, (void *)engine_dealloc}, {Py_tp_methods, methods}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Engine",
        .basicsize = sizeof(struct engine_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}
