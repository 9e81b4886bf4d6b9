"""The text of a program becomes code.

A program's value is that of its last statement when this is an expression. A tree can be told to keep
it, but turning a tree into objects and back takes longer than compiling does. So a program is cut in
two where its last statement seems to begin, and both parts are compiled as they are: if the first one
is a whole program, then nothing is open where it ends, and if the second one is an expression, or one
statement that has none, then there can be no other last statement. Whatever does not fit goes the way
of the tree, which also says what is wrong with a program.
"""
import ast
import re

# What a program is compiled with: await is allowed at its top level.
FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
VALUE = "__vial_value__"
NESTED = "the program is nested too deeply"
TREE_BYTES = 200  # that a tree takes for each byte of source, about

# await makes one coroutine of all of it, the future is said in the first part, and the others are
# lines or begin lines in ways of their own.
WHOLE = ("await", "async", "__future__", "\r", "\f", "\0")
INDENTED = " \t\n)]}#"  # how a line begins that begins no statement at the top level
CLAUSE = re.compile(r"(?:else|elif|except|finally)\b")
COMPOUND = re.compile(r"(?:for|while|if|def|class|with|try)\b")


def has_room(bytes_):
    """Is there so much memory? It is not written to, so asking costs nothing."""
    try:
        return bytearray(bytes_) is not None
    except MemoryError:
        return False


def compile_tree(text, name):
    try:
        return compile(text, name, "exec", FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
    except ValueError as error:  # a NUL, which Python finds before it looks at the grammar
        at = max(text.find("\0"), 0)
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise SyntaxError(str(error), (name, line, column, "")) from None
    except MemoryError:  # the reader's word for what goes too deep as well
        if has_room(TREE_BYTES * len(text)):
            raise SyntaxError(NESTED, (name, 1, 1, "")) from None
        raise


def compile_whole(text, name, check):
    """The program as one code that leaves its value in VALUE."""
    tree = compile_tree(text, name)
    if check is not None:
        check(tree, name)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        target = ast.Name(VALUE, ast.Store())
        tree.body[-1] = ast.copy_location(ast.Assign([ast.copy_location(target, last)], last.value), last)
    return compile(tree, name, "exec", FLAGS, dont_inherit=True)


def last_statement(text):
    """Where it seems to begin, or -1."""
    end = len(text)
    while end >= 0:
        start = text.rfind("\n", 0, end) + 1
        if text[start : start + 1] not in INDENTED and CLAUSE.match(text, start) is None:
            return start
        end = start - 1
    return -1


def compile_parts(text, name):
    """The program as two codes, of which the second one has the value. None when it cannot be cut so."""
    if any(word in text for word in WHOLE):
        return None
    start = last_statement(text)
    if start < 0:
        return None
    kind = "eval" if COMPOUND.match(text, start) is None else "exec"
    try:
        last = compile("\n" * text.count("\n", 0, start) + text[start:], name, kind, FLAGS, dont_inherit=True)
        if start == 0:
            return (last,)
        return compile(text[:start], name, "exec", FLAGS, dont_inherit=True), last
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
