"""display(*objects): shows things beside the value of a program, each as an artifact.

An artifact is the same thing in one or more MIME types, of which a reader takes the best. What an
object can be shown as is found out as IPython does: by its methods _repr_html_, _repr_png_ and so on.
A representation that fails is left out. Figures of matplotlib that are still open at the end of a
program are shown then. Nothing here imports any of the packages it knows about.
"""
import base64
import binascii
import builtins
import importlib.util
import io
import json
import re
import sys
import weakref

import _vial_host

ROWS_MAX = 100  # of a table as HTML; its text is shorter still
COLUMNS_MAX = 50
PARTS_MAX = 8  # as the host takes
MIME_BYTES_MAX = 127
MIME = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")

# Methods of objects, and the type of what they give. The best come first: PARTS_MAX may cut the rest.
METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)

# The first bytes of files that say by them what they are.
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)

shown = weakref.WeakSet()  # figures that the program has shown itself


def is_json(mime):
    return mime == "application/json" or mime.endswith("+json")


def is_text(mime):
    return mime.startswith("text/") or mime.endswith("+xml") or mime in ("application/xml", "application/javascript")


def encode(mime, content):
    """The bytes of one representation. Text of a type that is none is base64, as in notebooks."""
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if is_json(mime):
        text = content if isinstance(content, str) else json.dumps(content)
        return text.encode("utf-8", "replace")
    if not isinstance(content, str):
        raise TypeError(f"{mime} takes text or bytes, not {type(content).__name__}")
    if is_text(mime):
        return content.encode("utf-8", "replace")
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error:
        raise TypeError(f"{mime} takes bytes, or text that is base64") from None


def type_of_bytes(content):
    for start, mime in SIGNATURES:
        if content.startswith(start):
            return mime
    return None


def is_mime(key):
    return isinstance(key, str) and len(key) <= MIME_BYTES_MAX and MIME.fullmatch(key) is not None


def is_bundle(value):
    """{"image/png": bytes, "text/html": "..."}; a type in capitals is a mistake, which is said."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(key, str) and MIME.fullmatch(key.lower()) for key in value)
    )


def attempt(function, *arguments, **options):
    """What a method of the program's gives; None when it fails, which costs this representation only."""
    try:
        return function(*arguments, **options)
    except Exception:
        return None


def instance_of(value, module, name):
    """Is it of a class of this module, when somebody has imported that?"""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def saved(save, **options):
    """What a function writes to a file."""
    file = io.BytesIO()
    save(file, **options)
    return file.getvalue()


# ---- what a thing can be shown as ----


def show_figure(figure):
    return {"image/png": saved(figure.savefig, format="png", bbox_inches="tight")}


def show_image(image):
    kept = image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I") else image.convert("RGB")
    return {"image/png": saved(kept.save, format="PNG")}


def show_frame(frame):
    html = attempt(frame.to_html, max_rows=ROWS_MAX, max_cols=COLUMNS_MAX)
    if html is not None and len(frame) > ROWS_MAX:
        html += f"\n<p>{len(frame)} rows, {len(frame.columns)} columns</p>"
    return {"text/html": html, "text/plain": attempt(repr, frame)}


def show_by_methods(value):
    """By the methods that notebooks ask for; those of a class itself are not those of its instances."""
    found = {}
    if isinstance(value, type):
        return found
    bundle = getattr(value, "_repr_mimebundle_", None)
    if callable(bundle):
        given = attempt(bundle, include=None, exclude=None)
        given = given[0] if isinstance(given, tuple) and given else given
        if isinstance(given, dict):
            found.update((mime, content) for mime, content in given.items() if is_mime(mime))
    for name, mime in METHODS:
        method = getattr(value, name, None) if mime not in found else None
        if callable(method):
            given = attempt(method)
            found[mime] = given[0] if isinstance(given, tuple) and given else given
    return found


def representations(value):
    """The types a thing has, and its content in each; None where there is none."""
    if isinstance(value, str):
        return {"text/plain": value}
    if isinstance(value, (bytes, bytearray, memoryview)):
        mime = type_of_bytes(bytes(value[:16]))
        return {mime: value} if mime is not None else {"text/plain": repr(value)}
    if is_bundle(value):
        return value
    special = None
    if instance_of(value, "matplotlib.figure", "Figure"):
        special = attempt(show_figure, value)
    elif instance_of(value, "PIL.Image", "Image"):
        special = attempt(show_image, value)
    elif instance_of(value, "pandas", "DataFrame"):
        special = attempt(show_frame, value)
    found = dict(special if special is not None else show_by_methods(value))
    if "text/plain" not in found:
        text = attempt(repr, value)
        found["text/plain"] = text if text is not None else object.__repr__(value)
    return found


def show(value, name=None):
    """Sends one artifact."""
    given = is_bundle(value)
    parts = []
    for mime, content in representations(value).items():
        if given:  # as the program wants it: what is wrong with that it must know
            parts.append((mime, encode(mime, content)))
        elif content is not None and len(parts) < PARTS_MAX:
            try:
                parts.append((mime, encode(mime, content)))
            except (TypeError, ValueError, RecursionError):
                pass
    _vial_host.artifact(name, parts)
    if instance_of(value, "matplotlib.figure", "Figure"):
        shown.add(value)


def display(*objects, name=None, **_options):
    """Shows each of the objects; name is what they are called. Options of notebooks are accepted."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of an artifact is a string, not {type(name).__name__}")
    for value in objects:
        show(value, name)


# ---- figures of matplotlib ----


def collect_figures():
    """Shows the figures that are open and have not been shown, and closes all of them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    numbers = getattr(pyplot, "get_fignums", None)
    if numbers is None:
        return
    for number in attempt(numbers) or ():
        figure = attempt(pyplot.figure, number)
        if figure is not None and figure not in shown:
            attempt(show, figure)
        attempt(pyplot.close, figure if figure is not None else number)


def show_figures(*_arguments, **_options):
    """What plt.show() is: there is no window, so the figures go where all artifacts go."""
    collect_figures()


class Pyplot:
    """Finds matplotlib.pyplot as it would be found without this, and gives it our show()."""

    def __init__(self, loader=None):
        self.loader = loader

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = Pyplot(spec.loader)
        return spec

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        use = getattr(sys.modules.get("matplotlib"), "use", None)
        attempt(use, "agg")  # there is no window here, and looking for one takes time
        self.loader.exec_module(module)
        module.show = show_figures

    def __getattr__(self, name):  # what inspect and linecache ask of a loader
        return getattr(self.loader, name)


def install():
    builtins.display = display
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.show = show_figures
    else:
        sys.meta_path.insert(0, Pyplot())


install()
