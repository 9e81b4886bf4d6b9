"""test_build.py - what a program that uses the library meets: header, pkg-config file, shared object."""

import os
import pathlib
import subprocess

import pytest

from conftest import BUILD

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <vial.h>

int main(int argc, char **argv)
{
    struct vial_engine_options options = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine *engine;
    struct vial_result *result;
    struct vial_error err;
    size_t len;
    int ok;

    options.pool_count = 1;
    options.quick = 1;
    options.cell_path = argc > 1 ? argv[1] : NULL;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    request.source = "'hello from ' + [1, 2, 3].length + ' numbers'";
    request.source_len = strlen(request.source);
    ok = vial_run(engine, &request, &result, &err) == 0;
    if (ok) {
        printf("%s %s\n", vial_status_name(vial_result_status(result)), vial_result_value(result, &len));
        vial_result_free(result);
    }
    vial_engine_free(engine);
    return ok ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of everything that is installed, below a directory of its own."""
    root = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root], check=True,
                   capture_output=True)
    return root


def find(root, name):
    found = list(root.rglob(name))
    assert len(found) == 1, found
    return found[0]


@pytest.mark.slow
def test_a_program_compiles_and_runs_against_what_is_installed(installed, tmp_path):
    package = find(installed, "vial.pc").parent
    env = {**os.environ, "PKG_CONFIG_PATH": str(package), "PKG_CONFIG_SYSROOT_DIR": str(installed)}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "vial"], env=env, check=True,
                           capture_output=True, text=True).stdout.split()
    assert "-lvial" in flags
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", tmp_path / "program.c", "-o",
                    tmp_path / "program", *flags], check=True)
    env["LD_LIBRARY_PATH"] = str(find(installed, "libvial.so").parent)
    done = subprocess.run([tmp_path / "program", find(installed, "vial-cell-js")], env=env, timeout=60,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == 'ok "hello from 3 numbers"\n'


@pytest.mark.slow
def test_the_installed_program_finds_its_library(installed):
    env = {**os.environ, "LD_LIBRARY_PATH": str(find(installed, "libvial.so").parent)}
    vial = next(path for path in installed.rglob("vial") if path.is_file())
    done = subprocess.run([vial, "--version"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("vial ")


@pytest.mark.slow
def test_the_package_has_a_version_and_a_description(installed):
    text = find(installed, "vial.pc").read_text()
    assert "Version: " in text and "Description: " in text
    assert (pathlib.Path(find(installed, "vial.h"))).exists()


@pytest.mark.slow
def test_nothing_is_exported_but_the_interface(installed):
    symbols = subprocess.run(["nm", "-D", "--defined-only", find(installed, "libvial.so")], check=True,
                             capture_output=True, text=True).stdout.split("\n")
    names = [line.split()[-1] for line in symbols if line]
    assert names and all(name.startswith("vial_") for name in names)
