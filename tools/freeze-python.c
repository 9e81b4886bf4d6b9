/* freeze-python.c - compiles modules of Python to C, so that a cell has them without reading a
 * file.
 *
 * Usage: freeze-python TABLE PACKAGE FILE.py... > out.c. The file __init__.py is the package
 * itself. Tracebacks name the code <vial>/FILE, by which the cell knows it for its own. The code is
 * of the version of Python that this program is linked with, and good for no other. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <libgen.h>
#include <marshal.h>
#include <stdio.h>
#include <string.h>

enum {
    FILE_BYTES_MAX = 1024 * 1024, /* far more than a module that somebody wrote has */
    OPTIMIZATION = 2,             /* no asserts and no documentation in the cell */
};

/* The whole file as a string that ends in NUL, or NULL after a message. */
static char *read_file(const char *path)
{
    char *text = calloc(1, FILE_BYTES_MAX + 1);
    FILE *f = fopen(path, "r");

    if (f == NULL || text == NULL || fread(text, 1, FILE_BYTES_MAX, f) == FILE_BYTES_MAX) {
        perror(path);
        free(text);
        text = NULL;
    }
    if (f != NULL) {
        fclose(f);
    }
    return text;
}

/* Writes one module as an array of bytes; -1 after a message. */
static int put_module(unsigned number, const char *path, const char *base)
{
    char *text = read_file(path);
    PyObject *name = PyUnicode_FromFormat("<vial>/%s", base);
    PyObject *code = text != NULL && name != NULL
                         ? Py_CompileStringObject(text, name, Py_file_input, NULL, OPTIMIZATION)
                         : NULL;
    PyObject *bytes = code != NULL ? PyMarshal_WriteObjectToString(code, Py_MARSHAL_VERSION) : NULL;
    Py_ssize_t i;

    free(text);
    if (bytes == NULL) {
        PyErr_Print();
        return -1;
    }
    printf("static const unsigned char CODE_%u[] = {", number);
    for (i = 0; i < PyBytes_GET_SIZE(bytes); i++) {
        printf("%u,", (unsigned char)PyBytes_AS_STRING(bytes)[i]);
    }
    printf("};\n");
    Py_XDECREF(bytes);
    Py_XDECREF(code);
    Py_XDECREF(name);
    return 0;
}

/* The name of a module: that of its package, and of its file. */
static void put_name(const char *package, const char *base)
{
    if (strcmp(base, "__init__.py") == 0) {
        printf("%s", package);
    } else {
        printf("%s.%.*s", package, (int)(strlen(base) - strlen(".py")), base);
    }
}

int main(int argc, char **argv)
{
    const char *base;
    int i;

    if (argc < 4) {
        fprintf(stderr, "usage: freeze-python TABLE PACKAGE FILE.py...\n");
        return 2;
    }
    Py_InitializeEx(0);
    printf("#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n");
    for (i = 3; i < argc; i++) {
        if (put_module((unsigned)i, argv[i], basename(argv[i])) < 0) {
            return 1;
        }
    }
    printf("extern const struct _frozen %s[];\nconst struct _frozen %s[] = {\n", argv[1], argv[1]);
    for (i = 3; i < argc; i++) {
        base = basename(argv[i]);
        printf("    {\"");
        put_name(argv[2], base);
        printf(
            "\", CODE_%d, sizeof(CODE_%d), %d, NULL},\n", i, i, strcmp(base, "__init__.py") == 0);
    }
    printf("    {NULL, NULL, 0, 0, NULL},\n};\n");
    return 0;
}
