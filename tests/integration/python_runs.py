"""python_runs.py - what the tests of Python programs share: one that must go well, and one that must fail."""


def result_of(vial, code, *args, **more):
    return vial.result("--lang", "python", *args, "-e", code, **more)


def run(vial, code, *args, **more):
    """The value of a program that must go well."""
    result = result_of(vial, code, *args, **more)
    assert result["status"] == "ok", result["error"]
    return result.get("value")


def failure(vial, code, *args, **more):
    """The error of one that must raise."""
    result = result_of(vial, code, *args, **more)
    assert result["status"] == "exception", result
    return result["error"]


def place(error):
    return error["line"], error["column"], error["source_line"]
