"""test_python_pool.py - Python programs in the warm cells of an engine, which have more loaded than those of one `vial run`."""

import json
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.guest]
DRIVER = r"""
#include <stdio.h>
#include <string.h>
#include <vial.h>

/* Runs each argument as a program in Python with a module, and prints its result on a line. */
int main(int argc, char **argv)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_module module = {.name = "json.py", .source = "X = 1\n", .source_len = 6};
    struct vial_engine *engine;
    struct vial_result *result;
    struct vial_error err;
    int i;

    options.language = VIAL_LANGUAGE_PYTHON;
    options.pool_count = 2;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (i = 1; i < argc; i++) {
        struct vial_request request = VIAL_REQUEST_INIT;

        request.language = VIAL_LANGUAGE_PYTHON;
        request.source = argv[i];
        request.source_len = strlen(argv[i]);
        request.modules = &module;
        request.module_count = strstr(argv[i], "json.X") != NULL;
        if (vial_run(engine, &request, &result, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        printf("%s\n", vial_result_json(result, NULL));
        vial_result_free(result);
    }
    vial_engine_free(engine);
    return 0;
}
"""
CHANCE = "import random, secrets, uuid\n[random.random(), str(uuid.uuid4()), secrets.token_hex(8), random.Random().random()]"
PROGRAMS = [
    ("1 + 1", 2),
    ("import asyncio\nasyncio.run(asyncio.sleep(0.01, 5))", 5),
    ("import asyncio\nawait asyncio.gather(asyncio.sleep(0, 1), asyncio.to_thread(abs, -2))", [1, 2]),
    ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool: x = list(pool.map(abs, [-1, -2]))\nx", [1, 2]),
    ("import json\njson.X", 1),
    ("import json\njson.dumps([1])", "[1]"),
    ("sorted(n for n in globals() if not n.startswith('__'))", []),
    ("import logging, sys\nsys.stdout.isatty()", False),
    ("try:\n    undefined_name\nexcept NameError as e:\n    x = str(e)\nx", "name 'undefined_name' is not defined"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What came of programs, all of them in one engine."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(DRIVER)
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", f"-I{ROOT}/include", folder / "driver.c", f"-L{BUILD}", "-lvial",
                    f"-Wl,-rpath,{BUILD}", "-o", folder / "driver"], check=True)

    def call(programs):
        done = subprocess.run([folder / "driver", *programs], capture_output=True, encoding="utf-8", check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return call


def test_programs_find_the_same_as_elsewhere(results):
    for (code, value), result in zip(PROGRAMS, results([code for code, _ in PROGRAMS])):
        assert result["status"] == "ok" and result.get("value") == value, (code, result["error"], result.get("value"))


def test_threads_and_handlers_end_with_the_program(results):
    code = ("import atexit, threading, time\natexit.register(print, 'bye')\ndef late():\n    time.sleep(0.1); print('late')\n"
            "threading.Thread(target=late).start()\n1")
    for result in results([code, code]):
        assert (result["value"], result["stdout"]) == (1, "late\nbye\n")


def test_chance_differs_between_cells_of_one_template(results):
    first, second, third = (result["value"] for result in results([CHANCE] * 3))
    assert all(len(set(values)) == 3 for values in zip(first, second, third))


def test_hashes_are_the_same_everywhere(results):
    values = [result["value"] for result in results(["str(hash('a'))"] * 3)]
    assert len(set(values)) == 1
    assert [result["value"] for result in results(["str(hash('a'))"])] == values[:1]


def test_errors_say_where(results):
    for result in results(["def f():\n    return 1 / 0\nf()"] * 2):
        error = result["error"]
        assert (error["name"], error["line"], error["column"]) == ("ZeroDivisionError", 2, 12)
        assert "<vial>" not in error["stack"] and len(error["frames"]) == 2
