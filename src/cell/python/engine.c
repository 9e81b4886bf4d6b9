/* engine.c - CPython as a guest language: start-up, warmth, random numbers, the soft stop. See
 * cell/guest.h. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell/calls.h"
#include "cell/mounts.h"
#include "cell/python/files.h"
#include "cell/python/python.h"
#include "cell/python/value.h"
#include "wire/field.h"
#include "wire/frame.h"
#include "wire/library.h"

/* Small, and with a bit of everything that programs have. */
static const char TYPICAL[] = "import json\n"
                              "def f(items):\n"
                              "    return [{'x': x, 's': f'{x}'} for x in items]\n"
                              "total = sum(i * i for i in range(10))\n"
                              "print(end='')\n"
                              "f([1, total])\n";

/* As long as programs usually are, so that the pages are known which such a program takes. */
static const char LONGER[] =
    "import collections\n"
    "import json\n"
    "import re\n"
    "\n"
    "class Account:\n"
    "    \"\"\"Somebody's, with what was paid in and out.\"\"\"\n"
    "\n"
    "    def __init__(self, name, amounts=()):\n"
    "        self.name = name\n"
    "        self.amounts = list(amounts)\n"
    "\n"
    "    @property\n"
    "    def balance(self):\n"
    "        return sum(self.amounts)\n"
    "\n"
    "    def __repr__(self):\n"
    "        return f'Account({self.name!r}, {self.balance:.2f})'\n"
    "\n"
    "\n"
    "def read(lines):\n"
    "    accounts = {}\n"
    "    for number, line in enumerate(lines, start=1):\n"
    "        match = re.match(r'(\\w+)\\s*:\\s*(-?\\d+(?:\\.\\d+)?)$', line.strip())\n"
    "        if match is None:\n"
    "            continue\n"
    "        name, amount = match.groups()\n"
    "        try:\n"
    "            accounts.setdefault(name, Account(name)).amounts.append(float(amount))\n"
    "        except ValueError as error:\n"
    "            print(f'line {number}: {error}')\n"
    "    return accounts\n"
    "\n"
    "\n"
    "def totals(rows, key, value):\n"
    "    sums = collections.defaultdict(int)\n"
    "    for row in rows:\n"
    "        sums[row[key]] += row.get(value, 0)\n"
    "    ranked = sorted(sums.items(), key=lambda item: -item[1])\n"
    "    return [f'{name}: {amount}' for name, amount in ranked]\n"
    "\n"
    "\n"
    "def primes(limit):\n"
    "    sieve = [True] * (limit + 1)\n"
    "    sieve[0:2] = [False, False]\n"
    "    for i in range(2, int(limit ** 0.5) + 1):\n"
    "        if sieve[i]:\n"
    "            sieve[i * i :: i] = [False] * len(sieve[i * i :: i])\n"
    "    return [i for i, is_prime in enumerate(sieve) if is_prime]\n"
    "\n"
    "\n"
    "accounts = read(['ann: 5', 'bob: 7.25', 'nobody', 'ann: -2'])\n"
    "rows = [{'name': f'n{i % 3}', 'amount': i} for i in range(20)]\n"
    "text = json.dumps({'rows': totals(rows, 'name', 'amount'), 'primes': primes(50)})\n"
    "words = collections.Counter(re.findall('[a-z]+', text)).most_common(3)\n"
    "while len(words) > 5:\n"
    "    words.pop()\n"
    "print(end='')\n"
    "{'accounts': [str(a) for a in accounts.values()], 'words': words, 'back': json.loads(text), "
    "'sum': sum(i * i for i in range(100))}\n";

/* The same for programs that work with data. */
static const char TYPICAL_DATA[] = "import numpy as np\n"
                                   "import pandas as pd\n"
                                   "frame = pd.DataFrame({'a': range(20), 'b': np.arange(20.0)})\n"
                                   "frame['c'] = frame['a'] * frame['b']\n"
                                   "print(end='')\n"
                                   "str(frame.describe())\n";

extern const struct _frozen PRELUDE_PYTHON[]; /* made by tools/freeze-python.c */

static const char *const UNUSED[] = {NULL};

enum { THREAD_STACK_BYTES = 1 << 20 }; /* enough for 1,000 calls deep; libc's 8 MB count as used */

static PyObject *reseed; /* of the prelude */
static struct buf rehearsal = {.max = (size_t)1024 * 1024};
static int has_data;
static volatile sig_atomic_t is_armed; /* a program may be stopped */
static volatile sig_atomic_t is_fired; /* and is to */

/* ---- start-up ---- */

static int add_path(PyConfig *config, const wchar_t *path)
{
    return PyStatus_Exception(PyWideStringList_Append(&config->module_search_paths, path)) ? -1 : 0;
}

/* Nothing of the host decides what Python is: neither variables nor arguments nor site files. */
static int start_python(const char **ret_why)
{
    PyPreConfig before;
    PyConfig config;
    PyStatus status;

    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    status = Py_PreInitialize(&before);
    if (PyStatus_Exception(status)) {
        *ret_why = "preparing Python";
        return -1;
    }
    PyImport_FrozenModules = PRELUDE_PYTHON;
    if (PyImport_AppendInittab("_vial_host", py_host_module) < 0) {
        *ret_why = "adding a module to Python";
        return -1;
    }
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    /* The same in every template, so that what a program does with sets it does in every run. Who
     * sends keys that collide slows down a run that has limits. */
    config.use_hash_seed = 1;
    config.hash_seed = 0;
    config.write_bytecode = 0;
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    config.pathconfig_warnings = 0;
    config.module_search_paths_set = 1;
    config.buffered_stdio = 1;
    if (add_path(&config, L"/usr/lib/python3.11") < 0 ||
        add_path(&config, L"/usr/lib/python3.11/lib-dynload") < 0) {
        PyConfig_Clear(&config);
        *ret_why = "telling Python where its library is";
        return -1;
    }
    (void)PyConfig_SetString(&config, &config.executable, L"/usr/bin/python3");
    (void)PyConfig_SetString(&config, &config.base_executable, L"/usr/bin/python3");
    (void)PyConfig_SetString(&config, &config.prefix, L"/usr");
    (void)PyConfig_SetString(&config, &config.exec_prefix, L"/usr");
    (void)PyConfig_SetString(&config, &config.base_prefix, L"/usr");
    (void)PyConfig_SetString(&config, &config.base_exec_prefix, L"/usr");
    (void)PyConfig_SetString(&config, &config.stdio_encoding, L"utf-8");
    (void)PyConfig_SetString(&config, &config.stdio_errors, L"backslashreplace");
    status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) {
        *ret_why = "starting Python";
        return -1;
    }
    return 0;
}

/* The exception that is set becomes the reason. */
static int fail(const char **ret_why)
{
    static char text[256];
    PyObject *type = NULL, *error = NULL, *traceback = NULL;
    PyObject *shown;

    PyErr_Fetch(&type, &error, &traceback);
    shown = PyObject_Repr(error != NULL ? error : type);
    (void)snprintf(text, sizeof(text), "%s: %s", *ret_why,
        shown != NULL && PyUnicode_Check(shown) ? PyUnicode_AsUTF8(shown) : "no reason");
    *ret_why = text;
    return -1;
}

/* Loads the modules in a list of prelude/warm.py. */
static int load_list(PyObject *warm, const char *name)
{
    PyObject *names = PyObject_GetAttrString(warm, name);
    PyObject *done = names != NULL ? PyObject_CallMethod(warm, "load", "O", names) : NULL;

    Py_XDECREF(names);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

static int load_library(const struct guest_warmth *warmth)
{
    PyObject *warm = PyImport_ImportModule("_vial.warm");
    PyObject *done;
    int r = warm != NULL ? load_list(warm, "NATIVE") : -1;

    if (r == 0 && !warmth->quick) {
        r = load_list(warm, "USUAL");
    }
    if (r == 0 && warmth->data) {
        done = PyObject_CallMethod(warm, "load_data", NULL);
        r = done != NULL ? 0 : -1;
        Py_XDECREF(done);
    }
    reseed = r == 0 ? PyObject_GetAttrString(warm, "reseed") : NULL;
    Py_XDECREF(warm);
    return reseed != NULL ? 0 : -1;
}

/* ---- what guest.h wants ---- */

static void python_touch(void)
{
    buf_clear(&rehearsal);
    if (py_run_rehearse(has_data ? TYPICAL_DATA : TYPICAL, &rehearsal) < 0) {
        _exit(1); /* it went well in the template */
    }
}

static void rehearse(const char *source)
{
    struct guest_start start = {.name = "main.py",
        .name_len = 7,
        .source = source,
        .source_len = strlen(source),
        .value_bytes_max = 4096};

    py_run(&start, &rehearsal);
}

static void python_rehearse(void)
{
    rehearse(has_data ? TYPICAL_DATA : TYPICAL);
}

static void python_rehearse_longer(void)
{
    rehearse(has_data ? TYPICAL_DATA : LONGER);
}

static int python_warm(const struct guest_warmth *warmth, const char **ret_why)
{
    (void)mallopt(M_ARENA_MAX, 1); /* threads take turns anyway, and memory is given back */
    (void)clearenv();
    (void)setenv("TZ", "UTC", 1);
    (void)setenv("LC_ALL", "C.UTF-8", 1);
    (void)setenv("HOME", "/home/vial", 1);
    if (start_python(ret_why) < 0) {
        return -1;
    }
    has_data = warmth->data;
    calls_poll(); /* there may be threads */
    *ret_why = "warming Python";
    if (load_library(warmth) < 0) {
        return fail(ret_why);
    }
    if (py_value_warm() < 0 || py_run_prepare() < 0) {
        return fail(ret_why);
    }
    PyThread_set_stacksize(THREAD_STACK_BYTES);
    if (!warmth->quick && py_run_rehearse(has_data ? TYPICAL_DATA : TYPICAL, &rehearsal) < 0) {
        return fail(ret_why);
    }
    (void)PyGC_Collect();
    return PyRun_SimpleString("import gc; gc.freeze()");
}

static int python_reseed(const uint64_t seed[4])
{
    PyObject *number = _PyLong_FromByteArray((const unsigned char *)seed, 32, 1, 0);
    PyObject *done = number != NULL ? PyObject_CallOneArg(reseed, number) : NULL;

    Py_XDECREF(number);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* ---- the soft stop ---- */

/* In the interpreter, between two instructions. A program that catches it is asked again. */
static int stop_now(void *unused)
{
    (void)unused;
    if (!is_armed || !is_fired) {
        return 0;
    }
    PyErr_SetString(PyExc_KeyboardInterrupt, "the evaluation was stopped");
    return -1;
}

static void on_stop(int number)
{
    (void)number;
    if (is_armed) {
        is_fired = 1;
        calls_interrupt();
        (void)Py_AddPendingCall(stop_now, NULL);
    }
}

static void python_stay(void)
{
    struct sigaction action = {.sa_handler = on_stop};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(FRAME_STOP_SIGNAL, &action, NULL);
}

static void python_run(const struct guest_start *start, struct buf *result)
{
    if (start->session != SESSION_EVAL) {
        py_run(start, result);
        return;
    }
    is_fired = 0;
    is_armed = 1;
    py_run(start, result);
    is_armed = 0;
    if (is_fired) {
        PyErr_Clear();
        buf_clear(result);
        if (field_add_u32(result, FIELD_OUTCOME, OUTCOME_INTERRUPTED, NULL) < 0) {
            _exit(1);
        }
    }
}

/* The other threads would be missing in the copy, with whatever they hold. */
static int python_may_branch(void)
{
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Main());

    return PyThreadState_Next(first) == NULL ? 0 : EBUSY;
}

static int python_furnish(struct memfs *fs)
{
    return mounts_make_library(
        fs, LIBRARY_PYTHON, has_data ? LIBRARY_DATA_COUNT : LIBRARY_PYTHON_COUNT);
}

static void python_branched(void)
{
    calls_forget();
    py_files_branched();
    PyOS_AfterFork_Child();
}

const struct guest_ops GUEST = {
    .unused_libraries = UNUSED,
    .warm = python_warm,
    .furnish = python_furnish,
    .may_branch = python_may_branch,
    .reseed = python_reseed,
    .touch = python_touch,
    .rehearse = python_rehearse,
    .rehearse_longer = python_rehearse_longer,
    .rehearse_modules = python_rehearse,
    .stay = python_stay,
    .branched = python_branched,
    .run = python_run,
};
