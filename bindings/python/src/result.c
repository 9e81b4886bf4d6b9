/* result.c - class Result: a result of the library, whose parts become Python objects when they are
 * asked for. */
#include "binding.h"

#include <string.h>

struct result_object {
    PyObject_HEAD struct vial_result *result;
    PyObject *context; /* makes functions of handles; or NULL */
};

PyObject *result_make(struct vial_result *result, PyObject *context)
{
    struct result_object *self =
        (struct result_object *)PyType_GenericAlloc((PyTypeObject *)binding.result_type, 0);

    if (self == NULL) {
        vial_result_free(result);
        return NULL;
    }
    self->result = result;
    Py_XINCREF(context);
    self->context = context;
    return (PyObject *)self;
}

static void result_dealloc(PyObject *object)
{
    struct result_object *self = (struct result_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    vial_result_free(self->result);
    Py_XDECREF(self->context);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

static PyObject *get_status(PyObject *object, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(
        vial_status_name(vial_result_status(((struct result_object *)object)->result)));
}

/* undefined where there is none. */
static PyObject *get_value(PyObject *object, void *unused)
{
    struct result_object *self = (struct result_object *)object;
    const char *bytes;
    size_t len = 0;

    (void)unused;
    bytes = vial_result_cbor(self->result, &len);
    if (bytes != NULL) {
        return decode_cbor(bytes, len, self->context);
    }
    bytes = vial_result_value(self->result, &len);
    if (bytes != NULL) {
        return decode_json(bytes, len);
    }
    Py_INCREF(binding.undefined);
    return binding.undefined;
}

static PyObject *get_value_bytes(PyObject *object, void *unused)
{
    struct result_object *self = (struct result_object *)object;
    size_t len = 0;

    (void)unused;
    if (vial_result_cbor(self->result, &len) == NULL) {
        (void)vial_result_value(self->result, &len);
    }
    return PyLong_FromSize_t(len);
}

static PyObject *get_text(PyObject *object, void *unused)
{
    size_t len = 0;
    const char *text = vial_result_text(((struct result_object *)object)->result, &len);

    (void)unused;
    if (text == NULL) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
}

static PyObject *get_output(PyObject *object, void *stream)
{
    size_t len = 0;
    uint64_t dropped;
    const char *bytes = vial_result_output(((struct result_object *)object)->result,
        stream != NULL ? VIAL_STDERR : VIAL_STDOUT, &len, &dropped);

    return PyUnicode_DecodeUTF8(bytes != NULL ? bytes : "", (Py_ssize_t)len, "replace");
}

static PyObject *get_json(PyObject *object, void *unused)
{
    size_t len = 0;
    const char *json = vial_result_json(((struct result_object *)object)->result, &len);

    (void)unused;
    return json != NULL ? decode_json(json, len) : PyErr_NoMemory();
}

static PyObject *get_exit_code(PyObject *object, void *unused)
{
    int code = vial_result_exit_code(((struct result_object *)object)->result);

    (void)unused;
    if (code < 0) {
        Py_RETURN_NONE;
    }
    return PyLong_FromLong(code);
}

static PyObject *get_session_lives(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(
        vial_result_session_lives(((struct result_object *)object)->result) != 0);
}

static PyObject *get_files(PyObject *object, void *unused)
{
    struct result_object *self = (struct result_object *)object;
    size_t count = vial_result_file_count(self->result);
    PyObject *dict = PyDict_New();

    (void)unused;
    for (size_t i = 0; i < count && dict != NULL; i++) {
        struct vial_file file = {.name = NULL};
        PyObject *name, *bytes;

        if (vial_result_file(self->result, i, &file) < 0) {
            break;
        }
        name = PyUnicode_DecodeUTF8(file.name, (Py_ssize_t)strlen(file.name), "replace");
        bytes = PyBytes_FromStringAndSize(file.bytes, (Py_ssize_t)file.len);
        if (name == NULL || bytes == NULL || PyDict_SetItem(dict, name, bytes) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(name);
        Py_XDECREF(bytes);
    }
    return dict;
}

static PyObject *artifact_of(struct vial_result *result, size_t at)
{
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    PyObject *data = PyDict_New();

    if (vial_result_artifact(result, at, &artifact) < 0) {
        artifact.representation_count = 0;
    }
    for (uint32_t i = 0; i < artifact.representation_count && data != NULL; i++) {
        struct vial_representation r = VIAL_REPRESENTATION_INIT;
        PyObject *bytes;

        if (vial_result_representation(result, at, i, &r) < 0) {
            break;
        }
        bytes = PyBytes_FromStringAndSize(r.bytes, (Py_ssize_t)r.len);
        if (bytes == NULL || PyDict_SetItemString(data, r.mime, bytes) < 0) {
            Py_CLEAR(data);
        }
        Py_XDECREF(bytes);
    }
    return data != NULL ? Py_BuildValue("(zN)", artifact.name, data) : NULL;
}

static PyObject *get_artifacts(PyObject *object, void *unused)
{
    struct result_object *self = (struct result_object *)object;
    size_t count = vial_result_artifact_count(self->result);
    PyObject *list = PyList_New((Py_ssize_t)count);

    (void)unused;
    for (size_t i = 0; i < count && list != NULL; i++) {
        PyObject *one = artifact_of(self->result, i);

        if (one == NULL || PyList_SetItem(list, (Py_ssize_t)i, one) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *get_usage(PyObject *object, void *unused)
{
    struct vial_usage u = VIAL_USAGE_INIT;

    (void)unused;
    vial_result_usage(((struct result_object *)object)->result, &u);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K}", "wall_us", (unsigned long long)u.wall_us,
        "cpu_us", (unsigned long long)u.cpu_us, "memory_bytes_peak",
        (unsigned long long)u.memory_bytes_peak, "queue_us", (unsigned long long)u.queue_us,
        "host_us", (unsigned long long)u.host_us, "approval_us", (unsigned long long)u.approval_us);
}

PyObject *result_type_new(void)
{
    static int error_stream = VIAL_STDERR;
    static PyGetSetDef members[] = {{"status", get_status, NULL, NULL, NULL},
        {"value", get_value, NULL, NULL, NULL}, {"value_bytes", get_value_bytes, NULL, NULL, NULL},
        {"text", get_text, NULL, NULL, NULL}, {"stdout", get_output, NULL, NULL, NULL},
        {"stderr", get_output, NULL, NULL, &error_stream}, {"json", get_json, NULL, NULL, NULL},
        {"exit_code", get_exit_code, NULL, NULL, NULL},
        {"session_lives", get_session_lives, NULL, NULL, NULL},
        {"files", get_files, NULL, NULL, NULL}, {"artifacts", get_artifacts, NULL, NULL, NULL},
        {"usage", get_usage, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)result_dealloc}, {Py_tp_getset, members}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Result",
        .basicsize = sizeof(struct result_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}
