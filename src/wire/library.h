/* library.h - directories of the host that hold the library of a language. A cell finds them where
 * they are on the host, read-only, and looks at them through the host (look.h) when a program first
 * needs something that its template did not load. */
#ifndef VIAL_WIRE_LIBRARY_H
#define VIAL_WIRE_LIBRARY_H

enum {
    LIBRARY_MOUNT_FIRST = 1000, /* their numbers begin here; those of an environment are below */
    LIBRARY_PYTHON_COUNT = 2,   /* so many of LIBRARY_PYTHON are there without packages for data */
};

/* Single packages and not the directory of all: what else is installed is the host's business. */
#define LIBRARY_PACKAGES "/usr/lib/python3/dist-packages/"
static const char *const LIBRARY_PYTHON[] = {
    "/usr/lib/python3.11",
    "/usr/share/zoneinfo",
    LIBRARY_PACKAGES "numpy",
    LIBRARY_PACKAGES "pandas",
    LIBRARY_PACKAGES "matplotlib",
    LIBRARY_PACKAGES "mpl_toolkits",
    LIBRARY_PACKAGES "dateutil",
    LIBRARY_PACKAGES "pytz",
    LIBRARY_PACKAGES "PIL",
    LIBRARY_PACKAGES "fontTools",
    LIBRARY_PACKAGES "pyparsing",
    LIBRARY_PACKAGES "packaging",
    LIBRARY_PACKAGES "contourpy",
    LIBRARY_PACKAGES "kiwisolver",
    "/usr/share/matplotlib",
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/truetype/lyx",
};

enum { LIBRARY_DATA_COUNT = sizeof(LIBRARY_PYTHON) / sizeof(LIBRARY_PYTHON[0]) };

#endif
