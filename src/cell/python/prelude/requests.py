"""The module requests, as programs know it: the part of it that most of them use.

Everything goes through the host; certificates are always verified, and there are no proxies.
"""
import base64
import datetime
import json as json_module
import sys
import time
import types
import urllib.parse

from . import net

__version__ = "2.31.0"  # which it is like


class RequestException(IOError):
    def __init__(self, *arguments, response=None, request=None):
        super().__init__(*arguments)
        self.response, self.request = response, request


class HTTPError(RequestException):
    pass


class ConnectionError(RequestException):
    pass


class SSLError(ConnectionError):
    pass


class Timeout(RequestException):
    pass


class ConnectTimeout(ConnectionError, Timeout):
    pass


class ReadTimeout(Timeout):
    pass


class TooManyRedirects(RequestException):
    pass


class URLRequired(RequestException):
    pass


class InvalidURL(RequestException, ValueError):
    pass


class MissingSchema(InvalidURL):
    pass


class InvalidHeader(RequestException, ValueError):
    pass


class ChunkedEncodingError(RequestException):
    pass


class JSONDecodeError(RequestException, json_module.JSONDecodeError):
    def __init__(self, *arguments):
        json_module.JSONDecodeError.__init__(self, *arguments)
        self.response = self.request = None


def translate(error):
    """The exception that programs expect for one of ours."""
    if isinstance(error, net.NetworkTimeout):
        return ReadTimeout(error)
    if error.code == "redirect":
        return TooManyRedirects(error)
    if error.code in ("certificate", "tls"):
        return SSLError(error)
    if error.code == "url":
        return InvalidURL(error)
    return ConnectionError(error)


class CaseInsensitiveDict(dict):
    """Names of headers keep the case they were given in, and are found in any."""

    def __init__(self, data=None, **more):
        super().__init__()
        self.keys_by_lower = {}
        self.update(data or {}, **more)

    def update(self, data=(), **more):
        for name, value in list(data.items() if hasattr(data, "items") else data) + list(more.items()):
            self[name] = value

    def find(self, name):
        return self.keys_by_lower.get(name.lower(), name) if isinstance(name, str) else name

    def __setitem__(self, name, value):
        dict.pop(self, self.find(name), None)
        self.keys_by_lower[name.lower()] = name
        super().__setitem__(name, value)

    def __getitem__(self, name):
        return super().__getitem__(self.find(name))

    def __delitem__(self, name):
        super().__delitem__(self.find(name))
        del self.keys_by_lower[name.lower()]

    def __contains__(self, name):
        return super().__contains__(self.find(name))

    def get(self, name, default=None):
        return super().get(self.find(name), default)

    def pop(self, name, *default):
        return super().pop(self.find(name), *default)

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def copy(self):
        return CaseInsensitiveDict(self)


class Codes(types.SimpleNamespace):
    def __getitem__(self, name):
        return getattr(self, name)


codes = Codes(
    ok=200, created=201, accepted=202, no_content=204, moved_permanently=301, found=302, not_modified=304,
    bad_request=400, unauthorized=401, forbidden=403, not_found=404, conflict=409, too_many_requests=429,
    internal_server_error=500, bad_gateway=502, service_unavailable=503, gateway_timeout=504,
)


class Response:
    def __init__(self, answer, request, elapsed):
        self.raw = net.Body(answer)
        self.answer, self.request = answer, request
        self.status_code, self.reason, self.url = answer.status, answer.reason, answer.url
        self.headers = CaseInsensitiveDict()
        for name, value in answer.headers:
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self.cookies = cookies_of(answer.headers)
        self.history, self.elapsed = [], elapsed
        self.body = None
        self.encoding = encoding_of(self.headers)

    def __repr__(self):
        return f"<Response [{self.status_code}]>"

    def __bool__(self):
        return self.ok

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.close()

    def __iter__(self):
        return self.iter_content(128)

    @property
    def ok(self):
        return self.status_code < 400

    @property
    def is_redirect(self):
        return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def content(self):
        if self.body is None:
            try:
                self.body = self.answer.read()
            except net.NetworkError as error:
                raise translate(error) from error
        return self.body

    @property
    def apparent_encoding(self):
        return "utf-8"

    @property
    def text(self):
        try:
            return self.content.decode(self.encoding or "utf-8", "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")

    def json(self, **arguments):
        try:
            return json_module.loads(self.content.decode("utf-8-sig"), **arguments)
        except json_module.JSONDecodeError as error:
            raise JSONDecodeError(error.msg, error.doc, error.pos) from None
        except UnicodeDecodeError:
            raise JSONDecodeError("the body is not UTF-8", "", 0) from None

    def raise_for_status(self):
        kind = "Client" if 400 <= self.status_code < 500 else "Server" if self.status_code >= 500 else None
        if kind is not None:
            raise HTTPError(
                f"{self.status_code} {kind} Error: {self.reason} for url: {self.url}", response=self, request=self.request
            )

    def iter_content(self, chunk_size=1, decode_unicode=False):
        if self.body is not None:
            rest, more = self.body, lambda: b""
        else:
            rest, more = b"", self.answer.piece
        size = chunk_size or 65536
        while True:
            while len(rest) < size:
                try:
                    piece = more()
                except net.NetworkError as error:
                    raise translate(error) from error
                if not piece:
                    break
                rest += piece
            if not rest:
                return
            part, rest = rest[:size], rest[size:]
            yield part.decode(self.encoding or "utf-8", "replace") if decode_unicode else part

    def iter_lines(self, chunk_size=512, decode_unicode=False, delimiter=None):
        rest = b""
        source = [self.body] if self.body is not None else iter(self.answer.piece, b"")
        for piece in source:
            *lines, rest = (rest + piece).split(delimiter or b"\n")
            for line in lines:
                line = line if delimiter else line.removesuffix(b"\r")
                yield line.decode(self.encoding or "utf-8", "replace") if decode_unicode else line
        if rest:
            yield rest.decode(self.encoding or "utf-8", "replace") if decode_unicode else rest

    def close(self):
        self.answer.close()


def encoding_of(headers):
    kind = headers.get("content-type", "")
    for part in kind.split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.lower() == "charset":
            return value.strip("'\" ") or None
    return "ISO-8859-1" if kind.lower().startswith("text/") and "json" not in kind else None


def cookies_of(headers):
    cookies = {}
    for name, value in headers:
        if name.lower() == "set-cookie":
            key, _, rest = value.partition("=")
            cookies[key.strip()] = rest.partition(";")[0].strip()
    return cookies


class PreparedRequest(types.SimpleNamespace):
    """What was asked, for who looks at response.request."""


def form(data):
    pairs = data.items() if hasattr(data, "items") else data
    return urllib.parse.urlencode([(key, value) for key, value in pairs if value is not None], doseq=True)


def multipart(data, files):
    """A body of fields and files, and its type."""
    import secrets

    boundary = secrets.token_hex(16)
    out = []
    for name, value in (data.items() if hasattr(data, "items") else data or ()):
        out.append((f'form-data; name="{name}"', None, str(value).encode()))
    for name, value in files.items() if hasattr(files, "items") else files:
        file_name, content, kind = (tuple(value) + (None,))[:3] if isinstance(value, (tuple, list)) else (name, value, None)
        content = content.read() if hasattr(content, "read") else content
        content = content.encode() if isinstance(content, str) else content
        out.append((f'form-data; name="{name}"; filename="{file_name}"', kind or "application/octet-stream", content))
    body = b""
    for disposition, kind, content in out:
        head = f"--{boundary}\r\nContent-Disposition: {disposition}\r\n"
        head += f"Content-Type: {kind}\r\n" if kind else ""
        body += head.encode() + b"\r\n" + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def body_of(data, json, files):
    """(bytes, type or None)."""
    if files:
        return multipart(data or {}, files)
    if json is not None and data is None:
        return json_module.dumps(json).encode(), "application/json"
    if data is None:
        return b"", None
    if isinstance(data, str):
        return data.encode(), None
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data), None
    if hasattr(data, "read"):
        return data, None
    if hasattr(data, "items") or isinstance(data, (list, tuple)):
        return form(data).encode(), "application/x-www-form-urlencoded"
    return data, None  # an iterator, which is sent as it goes on


def url_of(url, params):
    url = url.decode() if isinstance(url, bytes) else str(url)
    if "://" not in url:
        raise MissingSchema(f"Invalid URL {url!r}: No scheme supplied. Perhaps you meant https://{url}?")
    parts = urllib.parse.urlsplit(url)
    if not parts.netloc:
        raise InvalidURL(f"Invalid URL {url!r}: No host supplied")
    query = parts.query
    if params:
        added = params if isinstance(params, str) else params.decode() if isinstance(params, bytes) else form(params)
        query = f"{query}&{added}" if query and added else query or added
    try:
        netloc = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except UnicodeError:
        raise InvalidURL(f"Invalid URL {url!r}: no such host") from None
    quoted = urllib.parse.quote(parts.path, safe="!#$%&'()*+,/:;=?@[]~") or "/"
    query = urllib.parse.quote(query, safe="!#$%&'()*+,/:;=?@[]~")
    return urllib.parse.urlunsplit((parts.scheme, netloc, quoted, query, ""))


class Session:
    def __init__(self):
        self.headers = CaseInsensitiveDict({"User-Agent": "vial-requests", "Accept": "*/*"})
        self.params, self.auth, self.cookies = {}, None, {}
        self.verify, self.cert, self.proxies, self.max_redirects, self.trust_env = True, None, {}, 30, False

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        pass

    def close(self):
        pass

    def mount(self, prefix, adapter):
        pass

    def request(
        self, method, url, params=None, data=None, headers=None, cookies=None, files=None, auth=None, timeout=None,
        allow_redirects=True, proxies=None, hooks=None, stream=False, verify=None, cert=None, json=None,
    ):
        if verify is False or self.verify is False:
            raise ValueError("certificates are always verified here")
        if proxies or cert:
            raise ValueError("there are no proxies and no client certificates here")
        all_params = {**self.params, **params} if isinstance(params, dict) else params or self.params
        url = url_of(url, all_params)
        body, kind = body_of(data, json, files)
        sent = self.headers.copy()
        for name, value in (headers or {}).items():
            if value is None:
                sent.pop(name, None)
            else:
                sent[name] = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        if kind is not None:
            sent.setdefault("Content-Type", kind)
        jar = {**self.cookies, **(cookies or {})}
        if jar:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in jar.items()))
        auth = auth or self.auth
        if isinstance(auth, (tuple, list)):
            sent["Authorization"] = "Basic " + base64.b64encode(f"{auth[0]}:{auth[1]}".encode()).decode()
        seconds = sum(t for t in timeout if t) or None if isinstance(timeout, tuple) else timeout
        asked = PreparedRequest(method=method.upper(), url=url, headers=sent, body=body or None)
        if callable(auth):
            asked = auth(asked) or asked
        began = time.monotonic()
        try:
            answer = net.ask(
                asked.method, asked.url, list(asked.headers.items()), asked.body or b"",
                "follow" if allow_redirects else "manual", seconds,
            )
        except net.NetworkError as error:
            raise translate(error) from error
        response = Response(answer, asked, datetime.timedelta(seconds=time.monotonic() - began))
        self.cookies.update(response.cookies)
        if not stream:
            response.content
        return response

    def get(self, url, **arguments):
        return self.request("GET", url, **arguments)

    def options(self, url, **arguments):
        return self.request("OPTIONS", url, **arguments)

    def head(self, url, **arguments):
        arguments.setdefault("allow_redirects", False)
        return self.request("HEAD", url, **arguments)

    def post(self, url, data=None, json=None, **arguments):
        return self.request("POST", url, data=data, json=json, **arguments)

    def put(self, url, data=None, **arguments):
        return self.request("PUT", url, data=data, **arguments)

    def patch(self, url, data=None, **arguments):
        return self.request("PATCH", url, data=data, **arguments)

    def delete(self, url, **arguments):
        return self.request("DELETE", url, **arguments)


def session():
    return Session()


def request(method, url, **arguments):
    return Session().request(method, url, **arguments)


def get(url, params=None, **arguments):
    return request("GET", url, params=params, **arguments)


def options(url, **arguments):
    return request("OPTIONS", url, **arguments)


def head(url, **arguments):
    return Session().head(url, **arguments)


def post(url, data=None, json=None, **arguments):
    return request("POST", url, data=data, json=json, **arguments)


def put(url, data=None, **arguments):
    return request("PUT", url, data=data, **arguments)


def patch(url, data=None, **arguments):
    return request("PATCH", url, data=data, **arguments)


def delete(url, **arguments):
    return request("DELETE", url, **arguments)


exceptions = types.ModuleType("requests.exceptions")
for name, value in list(globals().items()):
    if isinstance(value, type) and issubclass(value, RequestException):
        value.__module__ = "requests.exceptions"
        setattr(exceptions, name, value)
structures = types.SimpleNamespace(CaseInsensitiveDict=CaseInsensitiveDict)
Response.__module__ = Session.__module__ = "requests"
