/* value.c - see value.h: what is taken before guest code runs, and the ways in. */
#include "cell/python/value.h"

#include <string.h>

#include "cell/python/value_walk.h"
#include "wire/field.h"

struct value_types value_types;

/* ---- before guest code ---- */

/* An attribute of something in a module, of the thing itself when name is NULL. A new reference, or
 * NULL with an exception. */
static PyObject *take(const char *module_name, const char *thing_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *thing = module != NULL ? PyObject_GetAttrString(module, thing_name) : NULL;
    PyObject *found = NULL;

    if (thing != NULL) {
        found = name != NULL ? PyObject_GetAttrString(thing, name) : Py_NewRef(thing);
    }
    Py_XDECREF(module);
    Py_XDECREF(thing);
    return found;
}

static int take_types(void)
{
    static const struct {
        const char *module, *name;
        PyTypeObject **to;
    } types[] = {{"array", "array", &value_types.array},
        {"decimal", "Decimal", &value_types.decimal}, {"enum", "Enum", &value_types.enumeration},
        {"dataclasses", "Field", &value_types.field}, {"_io", "_IOBase", &value_types.file},
        {"fractions", "Fraction", &value_types.fraction},
        {"pathlib", "PurePath", &value_types.path}, {"re", "Pattern", &value_types.pattern},
        {"uuid", "UUID", &value_types.uuid}};
    PyObject *type;
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        type = take(types[i].module, types[i].name, NULL);
        if (type == NULL || !PyType_Check(type)) {
            return -1;
        }
        *types[i].to = (PyTypeObject *)type;
    }
    return 0;
}

/* Members of classes are taken as descriptors, which read an object whatever its class says. */
static int take_members(void)
{
    struct value_types *t = &value_types;
    const struct {
        const char *module, *thing, *name;
        PyObject **to;
    } members[] = {
        {"datetime", "datetime", "fromisoformat", &t->datetime_from_text},
        {"datetime", "datetime", "utcoffset", &t->datetime_offset},
        {"datetime", "datetime", "astimezone", &t->timezone_change},
        {"datetime", "date", "fromisoformat", &t->date_from_text},
        {"datetime", "time", "fromisoformat", &t->time_from_text},
        {"datetime", "time", "isoformat", &t->time_text},
        {"decimal", "Decimal", "__str__", &t->decimal_text},
        {"dataclasses", "Field", "_field_type", &t->field_kind},
        {"dataclasses", "_FIELD", NULL, &t->field_plain},
        {"fractions", "Fraction", "_numerator", &t->fraction_numerator},
        {"fractions", "Fraction", "_denominator", &t->fraction_denominator},
        {"pathlib", "PurePath", "__str__", &t->path_text},
        {"re", "Pattern", "pattern", &t->pattern_source},
        {"re", "Pattern", "flags", &t->pattern_flags},
        {"re", "compile", NULL, &t->regexp_compile},
        {"uuid", "UUID", "int", &t->uuid_int},
    };
    size_t i;

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        *members[i].to = take(members[i].module, members[i].thing, members[i].name);
        if (*members[i].to == NULL) {
            return -1;
        }
    }
    return 0;
}

/* The exceptions that a program may find by name. */
static int take_exceptions(void)
{
    PyObject *all = PyEval_GetBuiltins(); /* borrowed */
    PyObject *name, *thing;
    Py_ssize_t at = 0;

    value_types.exceptions = PyDict_New();
    while (value_types.exceptions != NULL && PyDict_Next(all, &at, &name, &thing)) {
        if (PyExceptionClass_Check(thing) &&
            PyType_IsSubtype((PyTypeObject *)thing, (PyTypeObject *)PyExc_Exception) &&
            PyDict_SetItem(value_types.exceptions, name, thing) < 0) {
            return -1;
        }
    }
    return value_types.exceptions != NULL ? 0 : -1;
}

int py_value_warm(void)
{
    value_types.name_fields = PyUnicode_InternFromString("__dataclass_fields__");
    value_types.name_value = PyUnicode_InternFromString("_value_");
    if (value_types.name_fields == NULL || value_types.name_value == NULL) {
        return -1;
    }
    return take_types() < 0 || take_members() < 0 || take_exceptions() < 0 || value_other_warm() < 0
               ? -1
               : value_decode_warm();
}

/* ---- to the host ---- */

/* Writes the value behind what is in out. Its length is then below the limit, and the exception is
 * set when it cannot be. */
static int write_value(struct walk *w, PyObject *value)
{
    size_t start = w->out->len;
    uint32_t handles = py_handle_last();
    int r = value_walk(w, value, 0);

    if (r < 0 && w->needs_cbor) {
        w->out->len = start;
        w->needs_cbor = 0;
        w->is_cbor = 1;
        r = value_walk(w, value, 0);
    }
    if (r == 0 && w->out->len > w->len_max) {
        r = value_refuse_size(w);
    }
    if (r < 0) {
        w->out->len = start;
        py_handle_forget_since(handles);
    }
    if (w->out->data != NULL) {
        w->out->data[w->out->len] = '\0';
    }
    return r;
}

static void begin(struct walk *w, struct buf *out, uint32_t bytes_max)
{
    w->out = out;
    w->bytes_max = bytes_max;
    w->len_max = out->len + bytes_max;
    w->is_cbor = w->needs_cbor = w->in_session = 0;
    w->may_cbor = 1;
}

int py_value_add(PyObject *value, uint32_t bytes_max, int in_session, struct buf *result)
{
    size_t start = result->len;
    struct walk w;

    if (field_add(result, FIELD_VALUE, "", 0, NULL) < 0) {
        (void)PyErr_NoMemory();
        return -1;
    }
    begin(&w, result, bytes_max);
    w.in_session = in_session != 0;
    if (write_value(&w, value) < 0) {
        result->len = start;
        result->data[start] = '\0';
        return -1;
    }
    field_head(result->data + start, w.is_cbor ? FIELD_VALUE_CBOR : FIELD_VALUE,
        (uint32_t)(result->len - start - FIELD_HEAD_BYTES));
    return 0;
}

int py_value_encode(
    PyObject *value, int allow_cbor, uint32_t bytes_max, struct buf *out, int *ret_is_cbor)
{
    struct walk w;

    begin(&w, out, bytes_max);
    w.may_cbor = allow_cbor != 0;
    if (write_value(&w, value) < 0) {
        return -1;
    }
    *ret_is_cbor = w.is_cbor;
    return 0;
}

int py_value_text(PyObject *value, uint32_t bytes_max, struct buf *out)
{
    PyObject *text = PyObject_Repr(value);
    int r = text != NULL ? value_add_utf8(out, text, bytes_max) : -1;

    Py_XDECREF(text);
    return r;
}
