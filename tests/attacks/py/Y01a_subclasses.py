# expect: status=ok value="PermissionError"
# The attacker wants a class that starts programs among all classes that exist.
classes = {c.__name__: c for c in ().__class__.__mro__[-1].__subclasses__()}
try:
    classes["Popen"](["/bin/sh", "-c", "id"])
    came = "started"
except BaseException as error:
    came = type(error).__name__
came
