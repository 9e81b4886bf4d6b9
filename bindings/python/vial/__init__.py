from . import _vial, _values
import json
class VialError(RuntimeError): pass
class ClosedError(VialError): pass
_vial.setup(VialError, ClosedError, _values.simplify, _values.restore, _values.undefined, json.JSONDecoder().decode)
def run(code, **o):
    e = _vial.Engine({})
    return e.start(code, o).wait()
