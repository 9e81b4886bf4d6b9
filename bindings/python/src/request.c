/* request.c - a request of the library from a dict of Python's. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* ---- strings that live as long as the request ---- */

static int keep(struct request *q, PyObject *owner)
{
    int r = owner != NULL ? PyList_Append(q->keep, owner) : -1;

    Py_XDECREF(owner);
    return r;
}

/* A text, as UTF-8 that ends in NUL and has none inside. */
static int keep_text(
    struct request *q, PyObject *text, const char *what, const char **ret, size_t *ret_len)
{
    PyObject *bytes;
    char *data;
    Py_ssize_t len;

    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str", what);
        return -1;
    }
    bytes = PyUnicode_AsUTF8String(text);
    if (keep(q, bytes) < 0 ||
        PyBytes_AsStringAndSize(bytes, &data, ret_len != NULL ? &len : NULL) < 0) {
        return -1;
    }
    *ret = data;
    if (ret_len != NULL) {
        *ret_len = (size_t)len;
    }
    return 0;
}

static int keep_bytes(
    struct request *q, PyObject *value, const char *what, const char **ret, size_t *ret_len)
{
    PyObject *bytes;
    char *data;
    Py_ssize_t len;

    if (PyUnicode_Check(value)) {
        return keep_text(q, value, what, ret, ret_len);
    }
    if (PyList_Check(value) || PyTuple_Check(value)) { /* of numbers: nobody means that */
        PyErr_Format(PyExc_TypeError, "%s must be bytes or a str", what);
        return -1;
    }
    bytes = PyBytes_FromObject(value);
    if (bytes == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "%s must be bytes or a str", what);
    }
    if (keep(q, bytes) < 0 || PyBytes_AsStringAndSize(bytes, &data, &len) < 0) {
        return -1;
    }
    *ret = data;
    *ret_len = (size_t)len;
    return 0;
}

static int keep_list(
    struct request *q, PyObject *list, const char *what, const char ***ret, size_t *ret_count)
{
    PyObject *items = PySequence_List(list);
    Py_ssize_t count;

    if (keep(q, items) < 0) {
        return -1;
    }
    count = PyList_Size(items);
    *ret = calloc((size_t)count + 1, sizeof(**ret));
    if (*ret == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (keep_text(q, PyList_GetItem(items, i), what, &(*ret)[i], NULL) < 0) {
            return -1;
        }
    }
    *ret_count = (size_t)count;
    return 0;
}

/* ---- one function for each name ---- */

typedef int (*take_fn)(struct request *q, PyObject *value);

static int take_number(PyObject *value, const char *what, uint32_t *ret)
{
    unsigned long n = PyLong_AsUnsignedLong(value);

    if ((n == (unsigned long)-1 && PyErr_Occurred() != NULL) || n > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is out of range", what);
        return -1;
    }
    *ret = (uint32_t)n;
    return 0;
}

static int take_name(struct request *q, PyObject *value)
{
    return keep_text(q, value, "name", &q->request.name, NULL);
}

static int take_input(struct request *q, PyObject *value)
{
    if (value == binding.undefined) {
        return 0;
    }
    if (encode_value(value, "input", q->context, 0, 0, &q->input) < 0) {
        return -1;
    }
    q->request.input = q->input.bytes.data;
    q->request.input_len = q->input.bytes.len;
    q->request.input_is_cbor = (uint32_t)q->input.is_cbor;
    return 0;
}

/* The fields of struct vial_limits by name. */
static int set_limit(struct vial_limits *limits, const char *name, PyObject *value)
{
#define LIMIT(field) {#field, offsetof(struct vial_limits, field), sizeof(limits->field)},
    static const struct {
        const char *name;
        size_t offset, size;
    } fields[] = {
#include "limits.inc"
    };
#undef LIMIT
    unsigned long long n = PyLong_AsUnsignedLongLong(value);
    uint32_t small = (uint32_t)n;

    if (n == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        PyErr_Format(PyExc_ValueError, "the limit %s must be a whole number, not %R", name, value);
        return -1;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].name, name) != 0) {
            continue;
        }
        if (fields[i].size == sizeof(small) && n > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "the limit %s is too large: %R", name, value);
            return -1;
        }
        memcpy((char *)limits + fields[i].offset,
            fields[i].size == sizeof(small) ? (const void *)&small : (const void *)&n,
            fields[i].size);
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "there is no limit %s", name);
    return -1;
}

static int take_limits(struct request *q, PyObject *value)
{
    Py_ssize_t at = 0;
    PyObject *key, *number;

    if (!PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "limits must be a dict");
        return -1;
    }
    while (PyDict_Next(value, &at, &key, &number)) {
        PyObject *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8String(key) : NULL;
        int r = -1;

        if (name != NULL) {
            r = set_limit(&q->limits, PyBytes_AsString(name), number);
        } else if (PyErr_Occurred() == NULL) {
            PyErr_SetString(PyExc_TypeError, "the names of limits must be str");
        }
        Py_XDECREF(name);
        if (r < 0) {
            return -1;
        }
    }
    q->request.limits = &q->limits;
    q->options.limits = &q->limits;
    return 0;
}

/* A dict of names and bytes, or texts. */
static int take_files(struct request *q, PyObject *value)
{
    Py_ssize_t at = 0;
    PyObject *name, *bytes;

    if (!PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "files must be a dict of names and bytes or str");
        return -1;
    }
    q->files = calloc((size_t)PyDict_Size(value) + 1, sizeof(*q->files));
    if (q->files == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(value, &at, &name, &bytes)) {
        struct vial_file *f = &q->files[q->request.files_count++];

        if (keep_text(q, name, "the name of a file", &f->name, NULL) < 0 ||
            keep_bytes(q, bytes, "a file", &f->bytes, &f->len) < 0) {
            return -1;
        }
    }
    q->options.files = q->request.files = q->files;
    q->options.files_count = q->request.files_count;
    return 0;
}

static int take_modules(struct request *q, PyObject *value)
{
    Py_ssize_t at = 0;
    PyObject *name, *source;

    if (!PyDict_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "modules must be a dict of names and sources");
        return -1;
    }
    q->modules = calloc((size_t)PyDict_Size(value) + 1, sizeof(*q->modules));
    if (q->modules == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (PyDict_Next(value, &at, &name, &source)) {
        struct vial_module *m = &q->modules[q->request.module_count++];

        if (keep_text(q, name, "the name of a module", &m->name, NULL) < 0 ||
            keep_text(q, source, "the source of a module", &m->source, &m->source_len) < 0) {
            return -1;
        }
    }
    q->options.modules = q->request.modules = q->modules;
    q->options.module_count = q->request.module_count;
    return 0;
}

static int take_outs(struct request *q, PyObject *value)
{
    int r = keep_list(q, value, "a pattern of outs", &q->outs, &q->request.outs_count);

    q->request.outs = q->outs;
    return r;
}

static int take_env(struct request *q, PyObject *value) /* "NAME=value" */
{
    int r = keep_list(q, value, "a variable", &q->env, &q->request.env_count);

    q->options.env = q->request.env = q->env;
    q->options.env_count = q->request.env_count;
    return r;
}

static int take_args(struct request *q, PyObject *value)
{
    int r = keep_list(q, value, "an argument", &q->args, &q->request.args_count);

    q->request.args = q->args;
    return r;
}

static int take_cwd(struct request *q, PyObject *value)
{
    return keep_text(q, value, "cwd", &q->request.cwd, NULL);
}

static int take_stdin(struct request *q, PyObject *value)
{
    return keep_bytes(q, value, "stdin", &q->request.stdin_bytes, &q->request.stdin_len);
}

static int take_globals(struct request *q, PyObject *value)
{
    int r = keep_text(q, value, "globals", &q->request.globals, &q->request.globals_len);

    q->options.globals = q->request.globals;
    q->options.globals_len = q->request.globals_len;
    return r;
}

static int take_permissions(struct request *q, PyObject *value)
{
    int r =
        keep_text(q, value, "permissions", &q->request.permissions, &q->request.permissions_len);

    q->options.permissions = q->request.permissions;
    q->options.permissions_len = q->request.permissions_len;
    return r;
}

static int take_net(struct request *q, PyObject *value)
{
    return keep_text(q, value, "net", &q->request.net, &q->request.net_len);
}

static int take_language(struct request *q, PyObject *value)
{
    int r = take_number(value, "language", &q->request.language);

    q->options.language = q->request.language;
    return r;
}

static int take_kind(struct request *q, PyObject *value)
{
    return take_number(value, "kind", &q->request.kind);
}

static int take_scan(struct request *q, PyObject *value)
{
    return take_number(value, "scan", &q->request.scan);
}

static int take_record_calls(struct request *q, PyObject *value)
{
    q->request.record_calls = PyObject_IsTrue(value) == 1;
    return 0;
}

static int take_main(struct request *q, PyObject *value)
{
    q->request.entry_is_main = PyObject_IsTrue(value) == 1;
    return 0;
}

static int take_text(struct request *q, PyObject *value)
{
    q->request.want_text = PyObject_IsTrue(value) == 1;
    return 0;
}

static int take_tools(struct request *q, PyObject *value)
{
    Py_INCREF(value);
    q->tools = value;
    if (tools_get(value, &q->request.tools, &q->request.tools_count) < 0) {
        return -1;
    }
    q->options.tools = q->request.tools;
    q->options.tools_count = q->request.tools_count;
    return 0;
}

static int take_environment(struct request *q, PyObject *value)
{
    struct environment_object *env = (struct environment_object *)value;

    if ((PyObject *)Py_TYPE(value) != binding.environment_type) {
        PyErr_SetString(PyExc_TypeError, "environment must be an environment");
        return -1;
    }
    if (env->env == NULL) {
        PyErr_SetString(binding.gone, "the environment is closed");
        return -1;
    }
    Py_INCREF(value);
    q->environment = value;
    q->options.environment = q->request.environment = env->env;
    return 0;
}

/* In the waiting thread, without the GIL. */
static void give_output(int stream, const char *bytes, size_t len, void *user)
{
    struct request *q = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *said = q->failed == NULL ? PyObject_CallFunction(
                                             q->on_output, "iy#", stream, bytes, (Py_ssize_t)len)
                                       : NULL;

    if (said == NULL && PyErr_Occurred() != NULL) {
        PyObject *type, *trace;

        PyErr_Fetch(&type, &q->failed, &trace);
        PyErr_NormalizeException(&type, &q->failed, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    Py_XDECREF(said);
    PyGILState_Release(gil);
}

static int take_on_output(struct request *q, PyObject *value)
{
    Py_INCREF(value);
    q->on_output = value;
    q->request.on_output = give_output;
    q->request.user = q;
    return 0;
}

static int take_on_approve(struct request *q, PyObject *value)
{
    Py_INCREF(value);
    q->on_approve = value;
    q->request.on_approve = tools_approve;
    q->request.user = q;
    return 0;
}

static int take_idle(struct request *q, PyObject *value)
{
    return take_number(value, "idle_ms_max", &q->options.idle_ms_max);
}

static int take_life(struct request *q, PyObject *value)
{
    return take_number(value, "life_ms_max", &q->options.life_ms_max);
}

static const struct {
    const char *name;
    take_fn take;
} takers[] = {{"name", take_name}, {"input", take_input}, {"limits", take_limits},
    {"files", take_files}, {"modules", take_modules}, {"outs", take_outs}, {"env", take_env},
    {"args", take_args}, {"cwd", take_cwd}, {"stdin", take_stdin}, {"globals", take_globals},
    {"permissions", take_permissions}, {"net", take_net}, {"language", take_language},
    {"kind", take_kind}, {"scan", take_scan}, {"record_calls", take_record_calls},
    {"main", take_main}, {"want_text", take_text}, {"tools", take_tools},
    {"environment", take_environment}, {"on_output", take_on_output},
    {"on_approve", take_on_approve}, {"idle_ms_max", take_idle}, {"life_ms_max", take_life}};

static int take_one(struct request *q, PyObject *key, PyObject *value)
{
    if (value == Py_None && PyUnicode_CompareWithASCIIString(key, "input") != 0) {
        return 0;
    }
    if (PyUnicode_CompareWithASCIIString(key, "context") == 0) {
        return 0; /* it was taken before */
    }
    for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
        if (PyUnicode_CompareWithASCIIString(key, takers[i].name) == 0) {
            return takers[i].take(q, value);
        }
    }
    PyErr_Format(PyExc_TypeError, "there is no option %R", key);
    return -1;
}

int request_fill_session(struct request *q, PyObject *options)
{
    Py_ssize_t at = 0;
    PyObject *key, *value;

    memset(q, 0, sizeof(*q));
    q->request = (struct vial_request)VIAL_REQUEST_INIT;
    q->options = (struct vial_session_options)VIAL_SESSION_OPTIONS_INIT;
    q->limits = (struct vial_limits)VIAL_LIMITS_INIT;
    q->keep = PyList_New(0);
    if (q->keep == NULL) {
        return -1;
    }
    if (options == NULL || options == Py_None) {
        return 0;
    }
    if (!PyDict_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict");
        return -1;
    }
    value = PyDict_GetItemString(options, "context");
    Py_XINCREF(value);
    q->context = value;
    while (PyDict_Next(options, &at, &key, &value)) {
        if (!PyUnicode_Check(key) || take_one(q, key, value) < 0) {
            return -1;
        }
    }
    q->options.name = q->request.name;
    return 0;
}

int request_fill(struct request *q, PyObject *source, PyObject *options)
{
    if (request_fill_session(q, options) < 0) {
        return -1;
    }
    return keep_text(q, source, "the code", &q->request.source, &q->request.source_len);
}

void request_release(struct request *q)
{
    bytes_release(&q->input.bytes);
    free(q->files);
    free(q->modules);
    free((void *)q->outs);
    free((void *)q->env);
    free((void *)q->args);
    Py_XDECREF(q->keep);
    Py_XDECREF(q->on_output);
    Py_XDECREF(q->on_approve);
    Py_XDECREF(q->environment);
    Py_XDECREF(q->tools);
    Py_XDECREF(q->context);
    Py_XDECREF(q->failed);
    memset(q, 0, sizeof(*q));
}
