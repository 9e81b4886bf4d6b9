"""What a program may import.

Modules that cannot work behind the wall say why, and what to use instead; an environment can name
the modules that its programs may import. Both are for the program's own imports: what the library
imports for itself is its business. This explains; it is the wall that protects.
"""
import ast
import builtins
import importlib
import importlib.util
import sys

PROCESSES = "a cell cannot start other programs; ask the host for a tool that does what is needed"
PARALLEL = "a cell is one process; concurrent.futures.ThreadPoolExecutor and asyncio do several things at once in it"
NETWORK = "a cell has no network; ask the host for a tool that fetches what is needed"
NATIVE = "native code cannot be loaded in a cell; write it in Python, or use the environment data"
SCREEN = "a cell has neither a screen nor a terminal; print, return a value, or use display()"
PACKAGES = "packages cannot be installed in a cell; the environment decides what is there"

BLOCKED = {
    **dict.fromkeys(("subprocess", "pty"), PROCESSES),
    **dict.fromkeys(("multiprocessing", "concurrent.futures.process", "concurrent.futures.ProcessPoolExecutor"), PARALLEL),
    **dict.fromkeys(
        (
            "socket", "ssl", "socketserver", "http.client", "http.server", "http.cookiejar", "ftplib",
            "smtplib", "smtpd", "poplib", "imaplib", "nntplib", "telnetlib", "xmlrpc", "urllib.request",
            "wsgiref", "asyncore", "asynchat", "webbrowser", "nis", "requests", "urllib3", "httpx", "aiohttp",
        ),
        NETWORK,
    ),
    **dict.fromkeys(("ctypes", "_ctypes", "cffi"), NATIVE),
    **dict.fromkeys(("tkinter", "turtle", "curses", "idlelib", "readline", "pdb", "ossaudiodev"), SCREEN),
    **dict.fromkeys(("ensurepip", "venv", "pip"), PACKAGES),
}
DATA = ("numpy", "pandas", "matplotlib")

allowed = None  # None: everything; else the names of an environment
given = set()  # modules that came with the program, by the first part of their names

plain_import = builtins.__import__
plain_import_module = importlib.import_module
OWN = "<vial>/"  # where the code of this package says to be
LIBRARY = ("/usr/", "<frozen ", "<__array_function__", OWN)  # how the files of code that is not the program's begin


class ImportDenied(ImportError):
    """Says where in the program, which has not begun."""

    def __init__(self, text, name, lineno=0, offset=0, filename=""):
        super().__init__(text, name=name)
        self.lineno, self.offset, self.filename = lineno, offset, filename


ImportDenied.__name__ = ImportDenied.__qualname__ = "ImportError"
ImportDenied.__module__ = "builtins"


def is_beneath(name, roots):
    """Is it one of these modules, or inside of one?"""
    while name:
        if name in roots:
            return True
        name = name.rpartition(".")[0]
    return False


def is_allowed(name):
    return (
        allowed is None
        or is_beneath(name, allowed)
        or name.partition(".")[0] in given
        or name in ("__future__", "__main__")
    )


def refusal(name):
    if allowed:
        return f"{name} may not be imported here; the environment allows {', '.join(sorted(allowed)[:20])}"
    return f"{name} may not be imported here; the environment allows no imports"


def blocked_reason(name):
    while name:
        if name in BLOCKED:
            return f"{name} cannot be used here: {BLOCKED[name]}"
        name = name.rpartition(".")[0]
    return None


def refuse(name, members):
    """Raises when a program may not import this, or members of it."""
    if not is_allowed(name) and not (members and all(is_allowed(f"{name}.{member}") for member in members)):
        raise ImportDenied(refusal(name), name)
    if name.partition(".")[0] in given:
        return
    reason = blocked_reason(name)
    for member in members or ():
        reason = reason or blocked_reason(f"{name}.{member}")
    if reason is not None:
        raise ImportDenied(reason, name)


def is_program(frame):
    """Is it the program's own? Calls from C have no frame."""
    return frame is not None and not frame.f_code.co_filename.startswith(LIBRARY)


def import_(name, globals=None, locals=None, fromlist=(), level=0):
    """In the place of __import__."""
    if level == 0 and is_program(sys._getframe().f_back):
        refuse(name, fromlist)
    return plain_import(name, globals, locals, fromlist, level)


def import_module(name, package=None):
    if not name.startswith(".") and is_program(sys._getframe().f_back):
        refuse(name, ())
    return plain_import_module(name, package)


def names_in(node):
    """What a statement imports: (module, members)."""
    if isinstance(node, ast.Import):
        return [(alias.name, ()) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [(node.module or "", [alias.name for alias in node.names])]
    return []


def is_guard(node):
    """Does it go on when an import fails? A program that can do without is not refused for trying."""
    if not isinstance(node, ast.Try):
        return False
    caught = [n for handler in node.handlers for n in (ast.walk(handler.type) if handler.type is not None else [None])]
    return any(n is None or isinstance(n, ast.Name) and n.id in CATCHING for n in caught)


CATCHING = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


def check(tree, file):
    """Finds what a program may not import before it runs, and says where."""
    if allowed is None:
        return
    guarded = {id(n) for node in ast.walk(tree) if is_guard(node) for part in node.body for n in ast.walk(part)}
    for node in ast.walk(tree):
        for name, members in names_in(node) if id(node) not in guarded else []:
            try:
                refuse(name, members)
            except ImportDenied as error:
                raise ImportDenied(str(error), name, node.lineno, node.col_offset + 1, file) from None


def restrict(names):
    """From now on programs may import these only; the first one is empty when there are rules."""
    global allowed
    if names:
        allowed = {name.decode() for name in names[1:]}


def hint(error):
    """What to say when there is no such module."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name in DATA:
        return f"{name} is in the environment data: vial run --in data"
    if isinstance(error, ModuleNotFoundError) and name:
        return "a cell has Python's own library, and the modules that come with the run or its environment"
    if isinstance(error, ImportError) and "cannot open shared object file" in str(error):
        return PARALLEL if "_multiprocessing" in str(error) else NATIVE
    return ""


class Afterwards:
    """Finds one module as it would be found without this, and does something as soon as it is loaded."""

    def __init__(self, name, then):
        self.name, self.then, self.loader = name, then, None

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.then()

    def __getattr__(self, name):  # what inspect and linecache ask of a loader
        return getattr(self.loader, name)


def after(name, then):
    """Does something when a module has been loaded: now, or when a program asks for it."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, Afterwards(name, then))


builtins.__import__ = import_
importlib.import_module = import_module
