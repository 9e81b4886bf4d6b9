"""The modules that come with a program, or with its environment, as texts.

A module that has the name of one of the library's takes its place, as a file beside a program does in
ordinary Python. What is built into the interpreter cannot be replaced.
"""
import _imp
import importlib.machinery
import linecache
import sys

from . import imports

texts = {}  # modules by name: the file they say to be, and their source


def module_name(file):
    """lib.py is lib, and so is ./lib.py; pkg/part.py is pkg.part."""
    name = file.removeprefix("./").removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def decode(source):
    """Sources come as UTF-8, whatever they say of themselves in their first lines."""
    return source.removeprefix(b"\xef\xbb\xbf").decode()


def remember(text, name):
    """Lets tracebacks and inspect find the lines of a source that is in no file. They take it for granted
    that each ends as lines do."""
    lines = text.splitlines(True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[name] = (len(text), None, lines, name)


def is_built_in(name):
    root = name.partition(".")[0]
    return root in sys.builtin_module_names or _imp.is_frozen(root)


def add(file, source):
    """Gives the first part of its name."""
    name = module_name(file)
    texts[name] = (file, source)
    root = name.partition(".")[0]
    imports.given.add(root)
    if root in sys.stdlib_module_names and not is_built_in(root):
        for loaded in [n for n in sys.modules if n == root or n.startswith(root + ".")]:
            del sys.modules[loaded]
    return root


def has(name):
    """Is it the name of one, or of a package that one is in?"""
    return name in texts or any(other.startswith(name + ".") for other in texts)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if not has(name) or is_built_in(name):
            return None
        file, _ = texts.get(name, (None, None))
        package = file is None or any(other.startswith(name + ".") for other in texts) or file.endswith("__init__.py")
        spec = importlib.machinery.ModuleSpec(name, Finder, origin=file, is_package=package)
        spec.has_location = file is not None
        return spec

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        file, source = texts.get(module.__spec__.name, (None, None))
        if file is None:  # a folder without __init__.py
            return
        text = decode(source)
        remember(text, file)
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)

    @staticmethod
    def get_source(name):  # what pkgutil and inspect ask for
        file, source = texts.get(name, (None, b""))
        return decode(source) if file is not None else None


sys.meta_path.insert(0, Finder)
