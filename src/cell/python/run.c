/* run.c - a program in Python, from its start message to the fields of its result.
 *
 * The prelude (prelude/run.py) reads, compiles and executes; C turns the start message into
 * objects, and what came of the program into fields. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell/clock.h"
#include "cell/memfs.h"
#include "cell/python/files.h"
#include "cell/python/python.h"
#include "cell/python/value.h"
#include "wire/field.h"

/* What evaluate() in prelude/run.py says first. */
enum { CAME_VALUE, CAME_FAILED, CAME_EXIT, CAME_MEMORY };

enum {
    REHEARSAL_BYTES_MAX = 4096,
    FAILURE_BYTES = 65536, /* the result of a program that has used up its memory */
};

/* Where in the tuple of errors.describe() what is. */
static const char HOME[] = "/home/vial";

enum { AT_NAME, AT_MESSAGE, AT_STACK, AT_HINT, AT_LINE, AT_COLUMN, AT_FILE, AT_FRAMES, AT_COUNT };

static PyObject *evaluate;    /* of the prelude */
static PyObject *describe;    /* likewise */
static PyObject *begin;       /* likewise */
static PyObject *call;        /* likewise */
static PyObject *complete;    /* likewise */
static PyObject *rehearse;    /* likewise */
static PyObject *permit;      /* likewise */
static PyObject *main_module; /* what guest code is in */
static unsigned count;        /* programs so far */

/* A cell that has no memory for its result ends, and the host says so. */
static void put(struct buf *result, uint8_t tag, const char *bytes, size_t len)
{
    if (field_add(result, tag, bytes, len, NULL) < 0) {
        _exit(1);
    }
}

static void put_u32(struct buf *result, uint8_t tag, uint32_t v)
{
    if (field_add_u32(result, tag, v, NULL) < 0) {
        _exit(1);
    }
}

/* Text of the guest's: what is no Unicode in it, half a pair, becomes a question mark. */
static void put_text(struct buf *result, uint8_t tag, PyObject *text)
{
    PyObject *bytes = text != NULL && PyUnicode_Check(text)
                          ? PyUnicode_AsEncodedString(text, "utf-8", "replace")
                          : NULL;

    if (bytes != NULL) {
        put(result, tag, PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
        Py_DECREF(bytes);
    } else {
        PyErr_Clear();
        put(result, tag, "", 0);
    }
}

static uint32_t number_of(PyObject *object)
{
    unsigned long v = object != NULL && PyLong_Check(object) ? PyLong_AsUnsignedLong(object) : 0;

    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return 0;
    }
    return v < UINT32_MAX ? (uint32_t)v : 0;
}

int py_run_prepare(void)
{
    PyObject *run = PyImport_ImportModule("_vial.run");
    PyObject *errors = run != NULL ? PyImport_ImportModule("_vial.errors") : NULL;

    evaluate = run != NULL ? PyObject_GetAttrString(run, "evaluate") : NULL;
    begin = run != NULL ? PyObject_GetAttrString(run, "begin") : NULL;
    permit = run != NULL ? PyObject_GetAttrString(run, "permit") : NULL;
    rehearse = run != NULL ? PyObject_GetAttrString(run, "rehearse") : NULL;
    call = run != NULL ? PyObject_GetAttrString(run, "call") : NULL;
    complete = run != NULL ? PyObject_GetAttrString(run, "complete") : NULL;
    main_module = run != NULL ? PyObject_GetAttrString(run, "main") : NULL;
    describe = errors != NULL ? PyObject_GetAttrString(errors, "describe") : NULL;
    Py_XDECREF(run);
    Py_XDECREF(errors);
    return evaluate != NULL && begin != NULL && permit != NULL && rehearse != NULL &&
                   call != NULL && complete != NULL && main_module != NULL && describe != NULL
               ? 0
               : -1;
}

/* ---- failures ---- */

static void put_frames(struct buf *result, PyObject *frames)
{
    PyObject *frame;
    Py_ssize_t i;

    for (i = 0; PyList_Check(frames) && i < PyList_GET_SIZE(frames); i++) {
        frame = PyList_GET_ITEM(frames, i);
        if (!PyTuple_Check(frame) || PyTuple_GET_SIZE(frame) != 4) {
            return;
        }
        put_text(result, FIELD_FRAME_FUNCTION, PyTuple_GET_ITEM(frame, 0));
        put_u32(result, FIELD_FRAME_LINE, number_of(PyTuple_GET_ITEM(frame, 1)));
        put_u32(result, FIELD_FRAME_COLUMN, number_of(PyTuple_GET_ITEM(frame, 2)));
        put_text(result, FIELD_FRAME_FILE, PyTuple_GET_ITEM(frame, 3));
    }
}

/* What errors.describe() said. */
static void put_failure(struct buf *result, uint32_t outcome, PyObject *described)
{
    buf_clear(result);
    put_u32(result, FIELD_OUTCOME, outcome);
    if (described == NULL || !PyTuple_Check(described) || PyTuple_GET_SIZE(described) != AT_COUNT) {
        static const char text[] = "the error could not be described";

        PyErr_Clear();
        put(result, FIELD_ERROR_NAME, "Error", 5);
        put(result, FIELD_ERROR_MESSAGE, text, sizeof(text) - 1);
        return;
    }
    put_text(result, FIELD_ERROR_NAME, PyTuple_GET_ITEM(described, AT_NAME));
    put_text(result, FIELD_ERROR_MESSAGE, PyTuple_GET_ITEM(described, AT_MESSAGE));
    put_text(result, FIELD_ERROR_STACK, PyTuple_GET_ITEM(described, AT_STACK));
    put_text(result, FIELD_ERROR_HINT, PyTuple_GET_ITEM(described, AT_HINT));
    put_text(result, FIELD_ERROR_FILE, PyTuple_GET_ITEM(described, AT_FILE));
    put_u32(result, FIELD_ERROR_LINE, number_of(PyTuple_GET_ITEM(described, AT_LINE)));
    put_u32(result, FIELD_ERROR_COLUMN, number_of(PyTuple_GET_ITEM(described, AT_COLUMN)));
    put_frames(result, PyTuple_GET_ITEM(described, AT_FRAMES));
}

/* The Python exception that is set. */
static void put_exception(struct buf *result, PyObject *name)
{
    PyObject *type, *error, *traceback, *described;

    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (error != NULL && traceback != NULL) {
        (void)PyException_SetTraceback(error, traceback);
    }
    described = error != NULL ? PyObject_CallFunctionObjArgs(describe, error, name, NULL) : NULL;
    put_failure(result,
        error != NULL && PyErr_GivenExceptionMatches(error, PyExc_MemoryError) ? OUTCOME_MEMORY
                                                                               : OUTCOME_EXCEPTION,
        described);
    Py_XDECREF(described);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

/* ---- the beginning ---- */

/* The list of the fields of one kind, as bytes. */
static PyObject *fields_list(const struct guest_start *start, uint8_t tag)
{
    PyObject *list = PyList_New(0);
    PyObject *item;
    struct field f;
    size_t at = 0;

    while (list != NULL && field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag != tag) {
            continue;
        }
        item = PyBytes_FromStringAndSize(f.bytes, (Py_ssize_t)f.len);
        if (item == NULL || PyList_Append(list, item) < 0) {
            Py_XDECREF(item);
            Py_CLEAR(list);
            break;
        }
        Py_DECREF(item);
    }
    return list;
}

/* (name, source) of the modules that came with it. */
static PyObject *modules_list(const struct guest_start *start)
{
    PyObject *list = PyList_New(0);
    PyObject *pair;
    size_t i;

    for (i = 0; list != NULL && i < start->module_count; i++) {
        pair =
            Py_BuildValue("(s#y#)", start->modules[i].name, (Py_ssize_t)start->modules[i].name_len,
                start->modules[i].source, (Py_ssize_t)start->modules[i].source_len);
        if (pair == NULL || PyList_Append(list, pair) < 0) {
            Py_XDECREF(pair);
            Py_CLEAR(list);
            break;
        }
        Py_DECREF(pair);
    }
    return list;
}

/* Variables, arguments, modules and tools, when there are any. */
static int begin_program(const struct guest_start *start, PyObject *name)
{
    PyObject *env, *args, *modules, *tools, *allowed, *done = NULL;

    if (count > 1 && start->session == SESSION_EVAL && start->module_count == 0 &&
        start->tools_count == 0) {
        return 0; /* they are those of the first program */
    }
    env = fields_list(start, FIELD_ENV);
    args = fields_list(start, FIELD_ARG);
    tools = fields_list(start, FIELD_TOOL);
    allowed = fields_list(start, FIELD_ALLOWED_IMPORT);
    modules = modules_list(start);
    if (env != NULL && args != NULL && modules != NULL && tools != NULL && allowed != NULL) {
        done = PyObject_CallFunctionObjArgs(begin, name, env, args, modules, tools, allowed, NULL);
    }
    Py_XDECREF(env);
    Py_XDECREF(args);
    Py_XDECREF(modules);
    Py_XDECREF(tools);
    Py_XDECREF(allowed);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* What the program may not see: variables of earlier programs, the time going on, its directory. */
static int begin_permissions(const struct guest_start *start)
{
    static int was_restricted;
    struct memfs *fs = start->files;
    int reads = fs == NULL || fs->judge == NULL || fs->judge(fs, MEMFS_ASK_READ, HOME, 1) == 0;
    PyObject *gone = fields_list(start, FIELD_ENV_GONE);
    PyObject *done = NULL;

    if (gone != NULL && PyList_GET_SIZE(gone) == 0 && !clock_stands() && reads && !was_restricted) {
        Py_DECREF(gone);
        return 0;
    }
    was_restricted = 1;
    if (gone != NULL) {
        done = PyObject_CallFunction(permit, "Oii", gone, clock_stands(), reads);
    }
    Py_XDECREF(gone);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* The network, for programs that may use it. */
static int provide_net(const struct guest_start *start)
{
    PyObject *net, *done;

    if (start->request_bytes_max == 0) {
        return 0;
    }
    net = PyImport_ImportModule("_vial.net");
    done = net != NULL ? PyObject_CallMethod(net, "provide", NULL) : NULL;
    Py_XDECREF(net);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static int set_global(const char *name, PyObject *value)
{
    int r = value != NULL ? PyObject_SetAttrString(main_module, name, value) : -1;

    Py_XDECREF(value);
    return r;
}

static int set_input(const struct guest_start *start)
{
    if (start->input == NULL) {
        return 0;
    }
    return set_global("input", start->input_is_cbor
                                   ? py_value_from_cbor(start->input, start->input_len)
                                   : py_value_from_json(start->input, start->input_len));
}

/* What the host gave for names that the environment declares. */
static int set_globals(const struct guest_start *start)
{
    PyObject *values, *scope;
    int r;

    if (start->globals == NULL) {
        return 0;
    }
    values = py_value_from_json(start->globals, start->globals_len);
    scope = PyModule_GetDict(main_module);
    r = values != NULL && PyDict_Check(values) ? PyDict_Update(scope, values) : -1;
    Py_XDECREF(values);
    return r;
}

/* ---- the end ---- */

/* The text is written where it will be sent from, and its length put in front afterwards. */
static int put_value_text(PyObject *value, uint32_t bytes_max, struct buf *result)
{
    size_t start = result->len;

    put(result, FIELD_TEXT, "", 0);
    if (py_value_text(value, bytes_max, result) < 0) {
        result->len = start;
        return -1;
    }
    field_head(
        result->data + start, FIELD_TEXT, (uint32_t)(result->len - start - FIELD_HEAD_BYTES));
    return 0;
}

static int put_value(const struct guest_start *start, PyObject *value, struct buf *result)
{
    if (start->want_text == WANT_NOTHING || (start->want_text == WANT_TEXT && value == Py_None)) {
        return 0;
    }
    return start->want_text == WANT_TEXT ? put_value_text(value, start->value_bytes_max, result)
                                         : py_value_add(value, start->value_bytes_max,
                                               start->session == SESSION_EVAL, result);
}

/* What evaluate() returned. */
static void put_outcome(
    const struct guest_start *start, PyObject *came, PyObject *name, struct buf *result)
{
    PyObject *what;
    long how;

    if (came == NULL || !PyTuple_Check(came) || PyTuple_GET_SIZE(came) != 2) {
        put_exception(result, name);
        return;
    }
    how = PyLong_AsLong(PyTuple_GET_ITEM(came, 0));
    what = PyTuple_GET_ITEM(came, 1);
    if (how == CAME_FAILED || how == CAME_MEMORY) {
        put_failure(result, how == CAME_MEMORY ? OUTCOME_MEMORY : OUTCOME_EXCEPTION, what);
        return;
    }
    put_u32(result, FIELD_OUTCOME, OUTCOME_OK);
    if (how == CAME_EXIT) {
        put_u32(result, FIELD_EXIT_CODE, number_of(what) & 255);
        if (start->session == SESSION_EVAL) {
            cell_finish(result);
        }
    } else if (put_value(start, what, result) < 0) {
        put_exception(result, name);
    } else if (start->session != SESSION_EVAL) {
        put_u32(result, FIELD_EXIT_CODE, 0);
    }
}

/* What the host asks of a session beside programs: to call a function that it was given, to let go
 * of one, or how a name could go on. What evaluate() would return, or NULL with an exception. */
static PyObject *do_special(const struct guest_start *start)
{
    PyObject *function, *arguments, *came;

    if (start->release != 0) {
        return py_handle_release(start->release) < 0 ? NULL
                                                     : Py_BuildValue("(iO)", CAME_VALUE, Py_None);
    }
    if (start->complete != 0) {
        came = PyObject_CallFunction(complete, "s#", start->source, (Py_ssize_t)start->source_len);
        return came != NULL ? Py_BuildValue("(iN)", CAME_VALUE, came) : NULL;
    }
    function = py_handle_get(start->function);
    arguments = start->input == NULL   ? PyList_New(0)
                : start->input_is_cbor ? py_value_from_cbor(start->input, start->input_len)
                                       : py_value_from_json(start->input, start->input_len);
    came = function != NULL && arguments != NULL
               ? PyObject_CallFunctionObjArgs(call, function, arguments, NULL)
               : NULL;
    Py_XDECREF(function);
    Py_XDECREF(arguments);
    return came;
}

static int is_special(const struct guest_start *start)
{
    return start->function != 0 || start->release != 0 || start->complete != 0;
}

int py_run_rehearse(const char *source, struct buf *result)
{
    PyObject *value = PyObject_CallFunction(rehearse, "y", source);
    int r = value != NULL ? py_value_add(value, REHEARSAL_BYTES_MAX, 0, result) : -1;

    Py_XDECREF(value);
    return r;
}

void py_run(const struct guest_start *start, struct buf *result)
{
    PyObject *name, *source, *came;

    py_files_begin(start, GUEST.furnish);
    name = PyUnicode_DecodeUTF8(start->name, (Py_ssize_t)start->name_len, "replace");
    source = PyBytes_FromStringAndSize(start->source, (Py_ssize_t)start->source_len);
    count++;
    (void)!buf_reserve(result, FAILURE_BYTES, NULL); /* while there is memory */
    py_host_begin(start);
    if (name == NULL || source == NULL || begin_program(start, name) < 0 ||
        begin_permissions(start) < 0 || provide_net(start) < 0 ||
        (!is_special(start) && set_input(start) < 0) || set_globals(start) < 0) {
        put_exception(result, name != NULL ? name : Py_None);
        return;
    }
    came = is_special(start) ? do_special(start)
                             : PyObject_CallFunction(evaluate, "OOii", source, name,
                                   (int)start->session, (int)start->entry_is_main);
    py_files_settle();
    put_outcome(start, came, name, result);
    Py_XDECREF(came);
    Py_DECREF(name);
    Py_DECREF(source);
}
