"""environment_cases.py - documents of environments, good and bad, that the program and the published JSON
Schema have to judge alike.

GOOD are documents that pass. BAD are pairs of a document and the path that the program names. BEYOND are the
same, for rules about several members at once, which a schema cannot say.
"""

NAME = {"name": "a"}
TOOL_NAMES_GOOD = ["find", "crm.find", "$a._b.c9", "then_", "crm.Array", "crm.input", "a.b.c.d.e.f.g.h", "deleted"]
TOOL_NAMES_BAD = ["", ".", "crm.", ".crm", "a..b", "crm-find", "9a", "caf\u00e9", "a b", "crm.delete", "crm.then",
                  "__proto__.x", "a.constructor", "prototype", "console", "JSON.parse", "fetch", "globalThis.x",
                  "a.b.c.d.e.f.g.h.i", "a" * 129, "crm.find\u0000"]
MODULES_GOOD = ["./a.js", "lodash", "@scope/pkg", "a/b.js", "././a", ".hidden"]
MODULES_BAD = ["", "/a.js", "https://x.test/a.js", "node:fs", "../a", "a/../b", "#x", "a//b", "a/", ".", "a/.",
               "a\\b", "a\tb", "x" * 1025]
PATHS_GOOD = ["a", "a/b.txt", "./a", "/home/vial/a", "/home/vial//a", "..a", "a..", "\u00e9", "a/"]
PATHS_BAD = ["", "/etc/passwd", "../a", "a/../b", "a/./b", "a//b", "/home/vialx/a", "/home/vial", ".", "..",
             "a\nb", "a\u0000", "x" * 256]
HOST_GOOD = ["/srv", "/srv/data/", "/developer", "/srv/..x", "/home/x/.cache"]
HOST_BAD = ["", "srv", "/", "//", "/srv/../etc", "/srv/./x", "/srv//x", "/proc", "/proc/1/root", "/sys/", "/dev/shm",
            "/a\u0001b", "/a\u0000"]
URLS_GOOD = ["https://api.test", "http://127.0.0.1:8080/x?y=1&z=%20", "http://[::1]:80/", "https://a.test?x"]
URLS_BAD = ["", "ftp://a.test/", "api.test", "HTTPS://a.test/", "https://", "https:///x", "http://:80/",
            "https://user:pass@a.test/", "https://a.test/a b", "https://a.test/\r\nX: y", "https://a.test/#x",
            "https://a.test/{x}"]
NUMBERS = {"timeout_ms": (1, 86400000), "calls_max": (1, 1000000), "concurrency_max": (1, 1000),
           "input_bytes_max": (64, 64 << 20), "output_bytes_max": (64, 64 << 20)}


def net_rule(match=None, **members):
    return [{"effect": "allow", "match": {"host": "a.example"} if match is None else match, **members}]


NET_GOOD = ["deny", "allow", [], net_rule(), net_rule(effect="deny"), net_rule({"host": "*"}), net_rule({"host": "*.a.example"}),
            net_rule({"host": "[::1]", "scheme": "http", "port": 8080, "path": "/v1/", "methods": ["GET", "PUT"]}),
            net_rule({"host": "10.0.0.1"}, name="n", addresses=["10.0.0.1", "fd00::1"]),
            net_rule(inject={"header": "X-Key", "secret": "K"}), net_rule(inject={"bearer": "K"}),
            net_rule(inject={"query": "key", "secret": "K"})]
NET_BAD = ["", "all", True, {}, [1], [{}], net_rule(effect="maybe"), net_rule({}), net_rule({"host": "a/b"}),
           net_rule({"host": "a..b"}), net_rule({"host": "*a"}), net_rule({"host": "b\u00fccher.example"}),
           net_rule({"host": "a", "port": 0}), net_rule({"host": "a", "scheme": "ftp"}), net_rule({"host": "a", "path": "x"}),
           net_rule({"host": "a", "methods": ["TRACE"]}), net_rule({"host": "a", "user": "x"}), net_rule(addresses=["10.0.0.0/8"]),
           net_rule(inject={}), net_rule(inject={"header": "X"}), net_rule(inject={"header": "a b", "secret": "K"}),
           net_rule(inject={"bearer": "K", "secret": "K"}), net_rule(inject={"bearer": "a b"}), net_rule(other=1)]


def tool(**members):
    return {"name": "a", "tools": [{"name": "t", **members}]}


def good():
    yield NAME
    yield {"name": "a", "scan": {}}
    yield {"name": "a", "audit": {}}
    yield {"name": "a", "audit": {"code": False, "input": True, "output": True, "redact": ["password", "*Token*"]}}
    yield {"name": "a", "audit": {"redact": ["x" * 64] * 64}}
    yield {"name": "a", "scan": {"mode": "block", "rules": {"own.scm": "; id: a\n; severity: off\n"}}}
    yield {"name": "0-_" + "z" * 61, "description": "d\n\u00e9", "language": "typescript", "prefix": "", "entry": "main"}
    yield {"name": "a", "language": "javascript", "entry": "script", "modules": {}, "tools": [], "globals": {},
           "permissions": {}, "limits": {}, "env": {}, "files": {}, "mounts": {}}
    for name in TOOL_NAMES_GOOD:
        yield {"name": "a", "tools": [{"name": name}]}
    for name in MODULES_GOOD:
        yield {"name": "a", "modules": {name: "1"}}
    for path in PATHS_GOOD:
        yield {"name": "a", "files": {path: "x"}}
        yield {"name": "a", "mounts": {path: {"from": "/srv"}}}
        yield {"name": "a", "cwd": path}
    for path in ["/home/vial", "/home/vial/", ".", "./"]:
        yield {"name": "a", "cwd": path}
    for path in HOST_GOOD:
        yield {"name": "a", "mounts": {"m": {"from": path}}}
    for url in URLS_GOOD:
        yield tool(http={"url": url})
    for key, (low, high) in NUMBERS.items():
        yield tool(**{key: low})
        yield tool(**{key: high})
        yield tool(**{key: float(low)})
    yield tool(description="", mode="sync", approve=True, input={"type": "object"}, output=False)
    yield tool(http={"url": "http://a/", "headers": {"Authorization": "Bearer x", "x-y": "", "hosts": "\u00e9"}})
    yield tool(exec={"command": ["ls", ""], "env": {"A": "=", "b c": ""}, "cwd": "/"})
    yield {"name": "a", "globals": {"x": None, "$y": [1.5, {"z": "\u0000"}], "tool": 1e300}}
    yield {"name": "a", "tools": [{"name": "crm.find"}],
           "permissions": {"fs": "allow", "tools": [rule("crm.*"), rule("crm.find", ops=["call"])]}}
    yield {"name": "a", "permissions": {"fs": "deny", "tools": [rule("*", name="all of them")]}, "files": {}, "mounts": {}}
    for value in GOOD_PERMISSIONS:
        yield {"name": "a", "permissions": value}
    for net in NET_GOOD:
        yield {"name": "a", "permissions": {"net": net}}
    yield {"name": "a", "env": {"TZ": "UTC", "with space": "", "x" * 256: "\n"}}
    yield {"name": "a", "files": {"x": {"base64": ""}, "y": {"base64": "AAEC/+8="}, "z": "\u0000"}}


def rule(match, effect="allow", **more):
    return {"effect": effect, "match": match, **more}


TIME = "2026-01-01T00:00:00Z"
GOOD_PERMISSIONS = [
    {}, {"net": "deny"}, {"net": "allow"}, {"net": []}, {"fs": []}, {"env": []}, {"tools": []}, {"process": []}, {"clock": []},
    {"fs": [rule("/home/vial/**"), rule("/home/vial/.*", "deny", ops=["write"], name="dots"), rule("/[a-z]/?\\*")]},
    {"env": [rule("*", "deny"), rule("APP_*", ops=["read"]), rule("TZ")]}, {"process": [rule("args"), rule("*", "deny")]},
    {"clock": "deny", "random": "deny"}, {"clock": {"at": TIME}, "random": {"seed": 0}}, {"random": {"seed": 2**53 - 1}},
    {"clock": {"at": "1970-01-01T00:00:00.5+00:00", "runs": True}}, {"clock": [{"effect": "allow"}], "random": [rule("*", "deny")]},
    {"fs": [rule("/a")] * 1000},
]
BAD_PERMISSIONS = [
    ({"file": "deny"}, "/file"), ({"files": False}, "/files"), ({"fs": "Deny"}, "/fs"), ({"fs": True}, "/fs"), ({"fs": {}}, "/fs"),
    ({"fs": None}, "/fs"), ({"tools": "*"}, "/tools"), ({"tools": [1]}, "/tools/0"), ({"tools": ["crm.*"]}, "/tools/0"),
    ({"tools": [rule("c*")]}, "/tools/0/match"), ({"tools": [rule("*.a")]}, "/tools/0/match"),
    ({"tools": [rule("")]}, "/tools/0/match"), ({"tools": [rule("a.*.*")]}, "/tools/0/match"),
    ({"tools": [rule("*", "allow", ops=["read"])]}, "/tools/0/ops/0"), ({"fs": [rule("/a", "allows")]}, "/fs/0/effect"),
    ({"fs": [{"match": "/a"}]}, "/fs/0"), ({"fs": [{"effect": "deny"}]}, "/fs/0"), ({"fs": [rule("/a", what=1)]}, "/fs/0/what"),
    ({"fs": [rule("a")]}, "/fs/0/match"), ({"fs": [rule("/")]}, "/fs/0/match"), ({"fs": [rule("/a/../b")]}, "/fs/0/match"),
    ({"fs": [rule("/a//b")]}, "/fs/0/match"), ({"fs": [rule("/" + "a/" * 600)]}, "/fs/0/match"), ({"fs": [rule("/a", ops=[])]}, "/fs/0/ops"),
    ({"fs": [rule("/a", ops=["execute"])]}, "/fs/0/ops/0"), ({"fs": [rule("/a", ops="read")]}, "/fs/0/ops"),
    ({"fs": [rule("/a", name="")]}, "/fs/0/name"), ({"fs": [rule("/a", name="a\nb")]}, "/fs/0/name"),
    ({"fs": [rule("/a", name='"')]}, "/fs/0/name"), ({"fs": [rule("/a", name="x" * 65)]}, "/fs/0/name"),
    ({"fs": [rule("/a")] * 1001}, "/fs"), ({"env": [rule("")]}, "/env/0/match"), ({"env": [rule("A*B")]}, "/env/0/match"),
    ({"env": [rule("A=")]}, "/env/0/match"), ({"process": [rule("exit")]}, "/process/0/match"), ({"clock": 1}, "/clock"),
    ({"clock": {}}, "/clock"), ({"clock": {"at": "now"}}, "/clock/at"), ({"clock": {"at": TIME, "run": True}}, "/clock/run"),
    ({"clock": {"at": TIME, "runs": 1}}, "/clock/runs"), ({"clock": {"at": "1969-12-31T23:59:59Z"}}, "/clock/at"),
    ({"random": {"seed": -1}}, "/random/seed"), ({"random": {"seed": 1.5}}, "/random/seed"), ({"random": {"seed": 2**53}}, "/random/seed"),
    ({"random": {"at": 1}}, "/random"), ({"random": 42}, "/random"), ({"net": [1] * 1001}, "/net"), ({"net": 1}, "/net"),
]


def bad():
    for value, where in [(None, ""), ([], ""), ({"code": 1}, "/code"), ({"input": "yes"}, "/input"), ({"outputs": True}, "/outputs"),
                         ({"redact": "a"}, "/redact"), ({"redact": [""]}, "/redact/0"), ({"redact": ["a", "x" * 65]}, "/redact/1"),
                         ({"redact": [1]}, "/redact/0"), ({"redact": ["a"] * 65}, "/redact")]:
        yield {"name": "a", "audit": value}, "/audit" + where
    for value in [None, [], "warn", {"mode": "only"}, {"level": 1}, {"rules": []}, {"rules": {"a": 1}}, {"rules": {"": ""}}]:
        where = "" if not isinstance(value, dict) else "/" + next(iter(value))
        inner = next(iter(value.values())) if isinstance(value, dict) else None
        yield {"name": "a", "scan": value}, "/scan" + where + ("/" + next(iter(inner)) if isinstance(inner, dict) else "")
    for value in [None, [], "a", 1, {}]:
        yield value, ""
    for name in ["", "A", "-a", "_a", "a.b", "a@1", "a" * 65, "\u00e9", 1, None]:
        yield {"name": name}, "/name"
    for key in ["nam", "Tools", "version", ""]:
        yield {"name": "a", key: 1}, f"/{key}"
    for key, values in {"description": [1, None, "x" * 8193, "\u0000"], "language": ["perl", "", 1, None],
                        "prefix": [1, None, "\u0000"], "modules": [[], None], "tools": [{}, None], "globals": [[], 1],
                        "permissions": [[], True], "limits": [[], 1], "env": [[], None], "cwd": [1, "/tmp", "../x"],
                        "files": [[], 1], "mounts": [[], 1], "entry": ["Main", "", 1]}.items():
        for value in values:
            yield {"name": "a", key: value}, f"/{key}"
    for name in TOOL_NAMES_BAD:
        yield {"name": "a", "tools": [{"name": name}]}, "/tools/0/name"
    for name in MODULES_BAD:
        yield {"name": "a", "modules": {name: "1"}}, "/modules/"
    yield {"name": "a", "modules": {"m": 1}}, "/modules/m"
    for path in PATHS_BAD:
        yield {"name": "a", "files": {path: "x"}}, "/files/" if "\u0000" not in path else ""
        yield {"name": "a", "mounts": {path: {"from": "/srv"}}}, "/mounts/" if "\u0000" not in path else ""
    for path in HOST_BAD:
        yield {"name": "a", "mounts": {"m": {"from": path}}}, "/mounts/m/from"
    for value in [{}, "/srv", None, {"from": "/srv", "mode": "rw"}, {"from": 1}]:
        yield {"name": "a", "mounts": {"m": value}}, "/mounts/m"
    yield from bad_tools()
    for name in ["class", "Array", "a.b", "a-b", "", "__proto__", "then", "input", "x" * 129]:
        yield {"name": "a", "globals": {name: 1}}, f"/globals/{name[:128]}"
    for value, path in BAD_PERMISSIONS:
        yield {"name": "a", "permissions": value}, f"/permissions{path}"
    for net in NET_BAD:
        yield {"name": "a", "permissions": {"net": net}}, "/permissions/net"
    for key, value in {"files": {"x": ""}, "mounts": {"x": {"from": "/srv"}}, "cwd": "x"}.items():
        yield {"name": "a", "permissions": {"fs": "deny"}, key: value}, f"/{key}"
    for value in [{"defaults": {}}, {"max": 1}, {"max": {"wall": 1}}, {"default": {"wall_ms_max": "1"}}]:
        yield {"name": "a", "limits": value}, "/limits/"
    for name in ["", "A=B", "x" * 257]:
        yield {"name": "a", "env": {name: ""}}, "/env/"
    for value in [1, None, "\u0000"]:
        yield {"name": "a", "env": {"A": value}}, "/env/A"
    for value in [1, None, {}, {"base64": 1}, {"base64": "A"}, {"base64": "AA=A"}, {"base64": "A-_A"},
                  {"base64": "AAAA", "mode": 1}]:
        yield {"name": "a", "files": {"f": value}}, "/files/f"


def bad_tools():
    yield {"name": "a", "tools": [1]}, "/tools/0"
    yield {"name": "a", "tools": [{}]}, "/tools/0"
    for key, values in {"nam": [1], "description": [1, "x" * 8193], "input": [1, "x", [], None], "output": ["x"],
                        "mode": ["", "Sync", 1], "approve": [1, "yes", None], "http": [1, {}, "http://x"],
                        "exec": [1, {}, []]}.items():
        for value in values:
            yield tool(**{key: value}), f"/tools/0/{key}"
    for key, (low, high) in NUMBERS.items():
        for value in [low - 1, high + 1, -1, 1.5, str(low), None, True]:
            yield tool(**{key: value}), f"/tools/0/{key}"
    for url in URLS_BAD:
        yield tool(http={"url": url}), "/tools/0/http/url"
    yield tool(http={"url": "http://a/", "method": "GET"}), "/tools/0/http/method"
    for name in ["", "X Y", "X:", "Host", "content-length", "CONNECTION", "Transfer-Encoding", "\u00e9"]:
        yield tool(http={"url": "http://a/", "headers": {name: ""}}), f"/tools/0/http/headers/{name}"
    for value in [1, "a\r\nb: c", "\u0000", "x" * 8193]:
        yield tool(http={"url": "http://a/", "headers": {"X": value}}), "/tools/0/http/headers/X"
    for value in [[], "ls", [""], [1], ["ls", 1], ["ls", "\u0000"]]:
        yield tool(exec={"command": value}), "/tools/0/exec/command"
    yield tool(exec={"command": ["ls"], "env": {"A=": ""}}), "/tools/0/exec/env/A="
    yield tool(exec={"command": ["ls"], "cwd": "x"}), "/tools/0/exec/cwd"
    yield tool(exec={"command": ["ls"], "shell": True}), "/tools/0/exec/shell"
    yield tool(exec={"command": ["ls"]}, http={"url": "http://a/"}), "/tools/0"


def beyond():
    yield {"name": "a", "tools": [{"name": "x"}, {"name": "x"}]}, "/tools/1/name"
    yield {"name": "a", "tools": [{"name": "x.y"}, {"name": "x"}]}, "/tools/0/name"
    yield {"name": "a", "tools": [{"name": "x.y"}], "globals": {"x": 1}}, "/globals/x"
    yield {"name": "a", "permissions": {"tools": [rule("x.*")]}}, "/permissions/tools/0/match"
    yield {"name": "a", "permissions": {"fs": [rule("/home/[a")]}}, "/permissions/fs/0/match"
    yield {"name": "a", "permissions": {"fs": [rule("/home/a\\")]}}, "/permissions/fs/0/match"
    yield {"name": "a", "permissions": {"clock": {"at": "2026-02-30T00:00:00Z"}}}, "/permissions/clock/at"
    yield {"name": "a", "limits": {"default": {"wall_ms_max": 6}, "max": {"wall_ms_max": 5}}}, "/limits/default/wall_ms_max"
    yield {"name": "a", "modules": {"./x": "", "././x": ""}}, "/modules"
    yield {"name": "a", "files": {"x": "", "x/y": ""}}, "/files/x~1y"
    yield {"name": "a", "files": {"x": "", "./x": ""}}, "/files/x"
    yield {"name": "a", "files": {"m/x": ""}, "mounts": {"m": {"from": "/srv"}}}, "/mounts/m"
    yield {"name": "a", "mounts": {"m": {"from": "/srv"}, "m/n": {"from": "/srv"}}}, "/mounts/m"
    yield {"name": "a", "files": {"x": "y" * 5000}, "limits": {"default": {"disk_bytes_max": 4096}}}, "/files"
    yield {"name": "a", "files": {"x": {"base64": "AAF="}}}, "/files/x/base64"


GOOD = list(good())
BAD = list(bad())
BEYOND = list(beyond())
