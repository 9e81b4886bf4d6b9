"""Values that cross the wall and that C does not write or make itself: docs/values.md has the table."""

import array
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import re
import sys
import uuid
from typing import Any, List, NamedTuple, Optional

from . import _vial

Tagged = _vial.Tagged


class JsUndefined:
    """The type of ``undefined``: JavaScript's value for nothing at all, which is not ``None``."""

    _one: Optional["JsUndefined"] = None

    def __new__(cls) -> "JsUndefined":
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"

    def __reduce__(self) -> str:
        return "undefined"

    def __copy__(self) -> "JsUndefined":
        return self

    def __deepcopy__(self, memo: Any) -> "JsUndefined":
        return self


undefined = JsUndefined()


class RegExp(NamedTuple):
    """A regular expression of the guest. Its source is JavaScript's or Python's, as it was written."""

    source: str
    flags: str


class NdArray(NamedTuple):
    """An array of several dimensions, row by row."""

    shape: List[int]
    data: Any


class Table(NamedTuple):
    """A data frame: its columns, the index (None when rows are only counted) and the first rows."""

    columns: List[Any]
    index: Optional[List[Any]]
    rows: List[List[Any]]
    row_count: int


class Unknown(NamedTuple):
    """A value of the guest that Python has nothing for, such as an array with four billion holes: a tag of
    docs/values.md and what it is around."""

    tag: int
    value: Any


class GuestError(Exception):
    """An error of the guest, as a value or raised by ``Result.value_or_raise()``."""

    def __init__(self, name: str, message: str, stack: str = "", cause: Any = None, result: Any = None) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack
        self.cause = cause
        self.result = result

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else str(self.name)


# Tags of RFC 8746 and the codes that module array has for them. Little-endian, as everywhere here.
_ARRAYS = {
    64: "B", 68: "B", 69: "H", 70: "I", 71: "Q", 72: "b", 77: "h", 78: "i", 79: "q", 85: "f", 86: "d",
}
_ARRAY_TAGS = {"B": 68, "b": 72, "h": 77, "i": 78, "q": 79, "H": 69, "I": 70, "Q": 71, "f": 85, "d": 86}
_SPARSE_MAX = 1_000_000  # a longer one with holes would only be holes


def _array(tag: int, data: bytes) -> Any:
    made = array.array(_ARRAYS[tag])
    made.frombytes(data)
    return made


def _utc(text: str) -> datetime.datetime:
    made = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return made if made.tzinfo is not None else made.replace(tzinfo=datetime.timezone.utc)


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _date(value: Any) -> Any:
    if isinstance(value, str):
        return _utc(value)
    if value != value:
        return None  # an invalid Date
    try:
        return _EPOCH + datetime.timedelta(microseconds=round(value * 1_000_000))
    except OverflowError:
        return float(value)  # a year that Python has not


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(value)
    if isinstance(value, dict):
        return tuple((key, _hashable(member)) for key, member in value.items())
    return bytes(value) if isinstance(value, (bytearray, array.array)) else value


def _sparse(length: int, members: Any) -> List[Any]:
    if not 0 <= length <= _SPARSE_MAX:
        raise ValueError(f"a sparse array of length {length} cannot become a list; the longest has {_SPARSE_MAX}")
    made: List[Any] = [undefined] * length
    for index, member in members.items():
        made[int(index)] = member
    return made


def _named(value: Any) -> Any:
    kind, rest = value[0], value[1:]
    if kind == "Error":
        return GuestError(*rest[:4])
    if kind == "Array":
        return _sparse(*rest)
    if kind == "ArrayBuffer":
        return rest[0]
    if kind == "complex":
        return complex(*rest)
    if kind == "datetime":
        return datetime.datetime.fromisoformat(rest[0])
    if kind == "time":
        return datetime.time.fromisoformat(rest[0])
    if kind == "timedelta":
        return datetime.timedelta(*rest)
    if kind == "Decimal":
        return decimal.Decimal(rest[0])
    if kind == "Table":
        table = rest[0]
        return Table(table["columns"], table["index"], table["rows"], table["row_count"])
    raise ValueError(f"there is no kind of value called {kind!r}")


def restore(kind: Any, value: Any, context: Any) -> Any:
    """What a tag around a value means; kind "key" is a value that has to become hashable."""
    if kind == "key":
        return _hashable(value)
    if kind == 27 and value[:1] == ["Function"] and hasattr(context, "make_function"):
        return context.make_function(value[1])
    if kind == 32 and hasattr(context, "make_url"):
        return context.make_url(value)
    try:
        return _restore(kind, value)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return Unknown(kind, value)  # a guest says what it likes; its value is no reason to fail


def _restore(kind: int, value: Any) -> Any:
    if kind in (0, 1):
        return _date(value)
    if kind == 27:
        return _named(value)
    if kind == 258:
        return {_hashable(item) for item in value}
    if kind in _ARRAYS:
        return _array(kind, value)
    if kind == 4:
        return decimal.Decimal(value[1]).scaleb(value[0], decimal.Context(prec=max(len(str(value[1])), 1)))
    if kind == 30:
        return fractions.Fraction(value[0], value[1])
    if kind == 32:
        return value
    if kind == 37:
        return uuid.UUID(bytes=value)
    if kind == 40:
        return NdArray(value[0], value[1])
    if kind == 1004:
        return datetime.date.fromisoformat(value)
    if kind == 21066:
        return RegExp(value[0], value[1])
    if kind in (76, 80, 84):
        return value
    raise ValueError(f"there is no value with tag {kind}")


# ---- the other way ----


def _from_datetime(value: datetime.datetime, context: Any) -> Any:
    if value.tzinfo is None:
        if getattr(context, "naive_is_utc", False):
            value = value.replace(tzinfo=datetime.timezone.utc)
        else:
            return Tagged(27, ["datetime", value.isoformat()])
    since = value - _EPOCH
    if since.microseconds % 1000:
        return Tagged(0, value.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z"))
    seconds = since.days * 86400 + since.seconds
    return Tagged(1, seconds + since.microseconds / 1_000_000 if since.microseconds else seconds)


def _from_decimal(value: decimal.Decimal) -> Any:
    sign, digits, exponent = value.as_tuple()
    if not value.is_finite() or (sign and not any(digits)) or len(digits) > 308:
        return Tagged(27, ["Decimal", str(value)])
    mantissa = int("".join(map(str, digits)))
    return Tagged(4, [exponent, -mantissa if sign else mantissa])


def _from_pattern(value: "re.Pattern[str]") -> Any:
    flags = "".join(letter for bit, letter in ((re.I, "i"), (re.M, "m"), (re.S, "s")) if value.flags & bit)
    return Tagged(21066, [value.pattern, flags])


def _from_array(code: str, data: bytes) -> Any:
    return data if code == "B" else Tagged(_ARRAY_TAGS[code], data)


def _from_numpy(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    if isinstance(value, numpy.generic):
        if isinstance(value, (numpy.datetime64, numpy.timedelta64)):
            return value.astype("datetime64[us]" if isinstance(value, numpy.datetime64) else "timedelta64[us]").item()
        return value.item()
    code = value.dtype.char
    if value.dtype.kind in "iuf" and code in "bBhHiIfdlLqQ":
        code = {"l": "q", "L": "Q"}.get(code, code)
        flat = numpy.ascontiguousarray(value).astype(value.dtype.newbyteorder("<")).tobytes()
        typed = _from_array(code, flat)
        return typed if value.ndim == 1 else Tagged(40, [list(value.shape), typed])
    return value.tolist()


def _from_frame(value: Any) -> Any:
    pandas = sys.modules["pandas"]
    frame = value.to_frame() if isinstance(value, pandas.Series) else value
    head = frame.head(1000)
    index = None if isinstance(frame.index, pandas.RangeIndex) else head.index.tolist()
    rows = [[None if member != member else member for member in row] for row in head.values.tolist()]
    return Tagged(27, ["Table", {
        "columns": list(frame.columns), "index": index, "rows": rows, "row_count": len(frame)}])


def _from_exception(value: BaseException) -> Any:
    fields = ["Error", getattr(value, "name", None) or type(value).__name__, str(value), ""]
    if isinstance(value, GuestError):
        fields = ["Error", value.name, value.message, value.stack]
    if value.__cause__ is not None:
        fields.append(value.__cause__)
    return Tagged(27, fields)


def _is_of(value: Any, module: str, *names: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, tuple(getattr(loaded, name) for name in names))


def simplify(value: Any, context: Any) -> Any:
    """The value made of what C can write: plain types and Tagged. TypeError when there is no way."""
    crossing = getattr(value, "_vial_crossing_", None)
    if crossing is not None and not isinstance(value, type):
        return crossing(context)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime):
        return _from_datetime(value, context)
    if isinstance(value, datetime.date):
        return Tagged(1004, value.isoformat())
    if isinstance(value, datetime.time):
        return Tagged(27, ["time", value.isoformat()])
    if isinstance(value, datetime.timedelta):
        return Tagged(27, ["timedelta", value.days, value.seconds, value.microseconds])
    if isinstance(value, memoryview):
        return value.tobytes()
    if isinstance(value, array.array):
        return value.tolist() if value.typecode not in _ARRAY_TAGS else _from_array(value.typecode, value.tobytes())
    if isinstance(value, range):
        return list(value)
    if isinstance(value, complex):
        return Tagged(27, ["complex", value.real, value.imag])
    if isinstance(value, decimal.Decimal):
        return _from_decimal(value)
    if isinstance(value, fractions.Fraction):
        return Tagged(30, [value.numerator, value.denominator])
    if isinstance(value, uuid.UUID):
        return Tagged(37, value.bytes)
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if isinstance(value, re.Pattern):
        return _from_pattern(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, BaseException):
        return _from_exception(value)
    if _is_of(value, "numpy", "generic", "ndarray"):
        return _from_numpy(value)
    if _is_of(value, "pandas", "DataFrame", "Series"):
        return _from_frame(value)
    dump = getattr(value, "model_dump", None)  # Pydantic's models
    if callable(dump) and not isinstance(value, type):
        return dump()
    what = "a function" if callable(value) else f"an object of class {type(value).__name__}"
    raise TypeError(f"is {what}, which cannot cross to the guest; "
                    + ("call it and pass the result" if callable(value) else "pass a dict, or make it a dataclass"))
