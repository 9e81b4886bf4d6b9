"""What a template has loaded before any program: what programs usually import, so that they find it at
once, and what they could not load themselves, because it is native code.

What is missing here is read from the host's library when it is first imported.
"""
import importlib
import random

seed_random = random.seed

NATIVE = """_bz2 _contextvars _decimal _hashlib _json _lsprof _lzma _multibytecodec _codecs_cn _codecs_hk
_codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _opcode _queue _sqlite3 _typing _uuid _zoneinfo audioop
_crypt mmap resource termios""".split()  # _asyncio comes with asyncio, which can do without it

USUAL = """abc argparse array ast asyncio base64 bisect bz2 calendar cmath collections.abc colorsys concurrent.futures
concurrent.futures.thread configparser contextlib contextvars copy csv dataclasses datetime decimal difflib dis email.message
encodings.idna encodings.latin_1 encodings.utf_16 encodings.cp1252 encodings.ascii encodings.utf_8_sig enum fnmatch fractions
functools getpass glob graphlib gzip hashlib heapq hmac html html.parser importlib.metadata importlib.resources inspect io
ipaddress itertools json keyword locale logging lzma math mimetypes numbers operator os pathlib pickle platform pprint queue
random re reprlib sched secrets shlex shutil sqlite3 statistics string stringprep struct sys tarfile tempfile textwrap threading
time timeit tokenize tomllib traceback types typing unicodedata unittest urllib.parse uuid warnings weakref
xml.etree.ElementTree zipfile zlib zoneinfo""".split()


seed_numpy = None  # the function that gives numpy's common generator its numbers


def reseed(number):
    """Random numbers of its own for this cell. Python's hashes stay those of the template."""
    seed_random(number)
    if seed_numpy is not None:
        seed_numpy(number & 0xFFFFFFFF)


def load(names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:  # a Python that was built without it
            pass


PACKAGES = "/usr/lib/python3/dist-packages"
FONTS = ("/usr/share/matplotlib/", "/usr/lib/python3/dist-packages/matplotlib/", "/usr/share/fonts/truetype/dejavu/")
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",  # a template has one thread, and a cell one processor
    "OMP_NUM_THREADS": "1",
    "NUMEXPR_MAX_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
}


def load_data():
    """The packages for data, and what they load when they are first used."""
    global seed_numpy
    import os
    import sys
    import tempfile

    sys.path.append(PACKAGES)
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory() as scratch:  # matplotlib writes down what fonts there are
        os.environ["MPLCONFIGDIR"] = scratch
        import matplotlib.font_manager as fonts
        import matplotlib.pyplot
        import numpy
        import numpy.fft
        import numpy.linalg
        import numpy.random
        import pandas

        use_data(numpy, pandas, matplotlib.pyplot)
    seed_numpy = numpy.random.seed
    os.environ["MPLCONFIGDIR"] = "/tmp/matplotlib"
    fonts._get_font.cache_clear()  # it has files open, which a cell has not
    # Others cannot be read in a cell, and are the host's business.
    fonts.fontManager.ttflist = [f for f in fonts.fontManager.ttflist if f.fname.startswith(FONTS)]
    fonts.fontManager.afmlist = [f for f in fonts.fontManager.afmlist if f.fname.startswith(FONTS)]


def use_data(np, pd, plt):
    """A little of what programs do with them, so that it is loaded and has been gone through once."""
    import io

    frame = pd.DataFrame({"a": range(50), "b": np.linspace(0, 1, 50), "c": list("xyzuv") * 10})
    frame.describe()
    frame.groupby("c").agg({"a": "sum", "b": "mean"})
    frame.merge(frame.head(5), on="a").sort_values("a")
    frame.pivot_table(index="c", values="b")
    pd.to_datetime(["2026-01-01", "2026-01-02"])
    pd.date_range("2026-01-01", periods=3)
    pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    frame.to_html(), frame.to_json(), repr(frame), frame.corr(numeric_only=True)
    np.linalg.solve(np.eye(3) * 2, np.ones(3)), np.random.default_rng(1).normal(size=3)
    figure, (left, right) = plt.subplots(1, 2)
    left.plot(frame["a"], frame["b"], label="line")
    left.legend(), left.set_title("title"), left.set_xlabel("x")
    right.bar([1, 2, 3], [3, 2, 1])
    right.hist(frame["b"]), right.scatter([1, 2], [2, 1])
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")
