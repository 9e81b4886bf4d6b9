"""test_serve.py - `vial serve`: runs over HTTP, their errors, their lists, their cancellation, health."""

import http.client
import json
import socket
import threading
import time

import pytest

from conftest import BUILD, Vial, wait_until
from server import next_event, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(Vial(BUILD), tmp_path_factory.mktemp("serve")) as s:
        yield s


@pytest.fixture(autouse=True)
def nothing_is_left():
    """The server of this module lives on between tests."""
    yield


def test_a_run_has_its_result(server):
    result = server.run("input.a.map(x => x * 2)", input={"a": [1, 2]})
    assert result["status"] == "ok" and result["value"] == [2, 4]
    assert result["id"].startswith("run_") and result["usage"]["wall_us"] > 0 and result["isolation"]["layers"]


def test_input_is_passed_as_it_is(server):
    answer = server.ask("POST", "/v1/runs", b'{"code": "[input.n, input.s, typeof input.big]", '
                        b'"input": {"n": 0.10, "s": "\\u00e9\\n", "big": 9007199254740993}}', Content_Type="application/json")
    assert answer.json["value"] == [0.1, "é\n", "number"]
    assert server.run("input", input="a \"text\"")["value"] == 'a "text"'


def test_a_failed_guest_is_200(server):
    result = server.run("throw new TypeError('no')")
    assert result["status"] == "exception" and result["error"]["name"] == "TypeError"
    result = server.run("for (;;) {}", limits={"wall_ms_max": 100})
    assert result["status"] == "wall_limit" and result["limits"]["wall_ms_max"] == 100


def test_languages(server):
    assert server.run("const x: number = 3; x", language="typescript")["value"] == 3
    assert server.run("sum(range(4))", language="python")["value"] == 6


def test_unknown_members_are_refused_with_their_path(server):
    answer = server.ask("POST", "/v1/runs", {"code": "1", "limits": {"wall_ms": 1}, "lagnuage": "js"})
    assert answer.status == 422 and answer.headers["content-type"] == "application/problem+json"
    problem = answer.json
    assert problem["code"] == "invalid" and problem["retryable"] is False and problem["status"] == 422
    assert {e["path"] for e in problem["errors"]} == {"/lagnuage", "/limits/wall_ms"}
    assert any('did you mean "language"' in e["message"] for e in problem["errors"])


@pytest.mark.parametrize("body, status, code", [
    (b"{", 400, "bad_json"), (b"", 400, "bad_json"), (b'{"code":"1","code":"2"}', 400, "bad_json"),
    (b"[1]", 422, "invalid"), (b'{"code":1}', 422, "invalid"), (b'{"code":"\xff"}', 400, "bad_json"),
    (b'{"code":"1"} x', 400, "bad_json"), (b'{"code":"1","files":{"a":{"base64":"@"}}}', 422, "invalid"),
    (b'{"code":"1","limits":{"wall_ms_max":999999999999}}', 422, "invalid"),
    (b'{"code":"1","environment":"nowhere"}', 404, "not_found"),
    (b'{"code":"1","environment":"No Where"}', 422, "invalid"),
    (b'{"code":"1","files":{"../a":"x"}}', 422, "invalid"),
])
def test_bad_bodies(server, body, status, code):
    answer = server.ask("POST", "/v1/runs", body, Content_Type="application/json")
    assert (answer.status, answer.json["code"]) == (status, code), answer.body


def test_other_types_are_refused(server):
    assert server.ask("POST", "/v1/runs", b'{"code":"1"}', Content_Type="text/plain").status == 415


def test_paths_and_methods(server):
    assert server.ask("GET", "/v1/nothing").status == 404
    answer = server.ask("DELETE", "/v1/runs")
    assert answer.status == 405 and set(answer.headers["allow"].split(", ")) == {"GET", "POST"}
    assert server.ask("HEAD", "/healthz").status == 200
    assert server.ask("GET", "/v1/runs/%00").status == 400
    assert server.ask("GET", "/v1/runs/%zz").status == 400


def test_a_stream_has_every_event_once(server):
    code = "console.log('a'); console.error('b'); display.html('<b>x</b>', {name: 'n'}); await 1; 5"
    answer = server.ask("POST", "/v1/runs", {"code": code}, Accept="application/x-ndjson")
    assert answer.headers["content-type"] == "application/x-ndjson"
    events = answer.lines
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert [e["type"] for e in events] == ["start", "stdout", "stderr", "artifact", "result", "end"]
    assert events[1]["text"] == "a\n" and events[2]["text"] == "b\n"
    assert events[4]["result"]["value"] == 5 and events[5]["status"] == "ok"
    assert events[0]["run"]["id"] == events[4]["result"]["id"] == answer.headers["vial-run-id"]
    url = events[3]["artifact"]["representations"][0]["url"]
    shown = server.ask("GET", url)
    assert shown.body == b"<b>x</b>" and shown.headers["content-type"] == "text/html"
    assert "sandbox" in shown.headers["content-security-policy"] and shown.headers["content-disposition"] == "attachment"


def test_output_is_streamed_as_it_comes(server):
    c, r = server.stream("/v1/runs", {"code": "console.log(1); await new Promise(r => setTimeout(r, 600)); 2", "stream": True})
    begin = time.monotonic()
    assert next_event(r, "stdout")["text"] == "1\n"
    assert time.monotonic() - begin < 0.5
    assert next_event(r, "end")["t_ms"] >= 600
    c.close()


@pytest.mark.parametrize("how", ["stream", "detach", "session"])
def test_artifacts_are_told_of_and_given_while_the_run_goes_on(server, how):
    code = "display.html('<b>x</b>', {name: 'n'}); display({'text/plain': 'one', 'application/json': {a: 1}}); console.log('said'); await new Promise(r => setTimeout(r, 1500)); display('last'); 2"
    if how == "detach":
        run = server.ask("POST", "/v1/runs", {"code": code, "detach": True}).json["id"]
        c, r = server.stream(f"/v1/runs/{run}/events", method="GET")
    elif how == "stream":
        c, r = server.stream("/v1/runs", {"code": code, "stream": True})
    else:
        session = server.ask("POST", "/v1/sessions", {}).json["id"]
        c, r = server.stream(f"/v1/sessions/{session}/eval", {"code": code, "stream": True})
    begin = time.monotonic()
    first, second = next_event(r, "artifact")["artifact"], next_event(r, "artifact")["artifact"]
    assert next_event(r)["type"] == "stdout"
    got = [server.ask("GET", part["url"]) for a in (first, second) for part in a["representations"]]
    assert time.monotonic() - begin < 1.2 # it still runs
    assert [(g.status, g.headers["content-type"], g.body) for g in got] == [
        (200, "text/html", b"<b>x</b>"), (200, "text/plain", b"one"), (200, "application/json", b'{"a":1}')]
    assert (first["index"], first["name"], first["representations"][0]["bytes"]) == (0, "n", 8) and second["name"] is None
    assert server.ask("GET", first["representations"][0]["url"][:-1] + "1").status == 409
    last = next_event(r, "artifact")["artifact"]
    assert [next_event(r)["type"], next_event(r)["type"]] == ["result", "end"]
    assert server.ask("GET", last["representations"][0]["url"]).body == b"last"
    assert server.ask("GET", first["representations"][0]["url"]).body == b"<b>x</b>"
    c.close()


def test_lists_have_what_runs_and_what_waits(tmp_path):
    """Runs that somebody waits for or reads as they go, in their order, on pages, and each once."""
    vial = Vial(BUILD)
    with serving(vial, tmp_path, "--workers", "3") as s:
        old = [s.run(str(i))["id"] for i in range(3)]
        assert set(old) == {r["id"] for r in s.ask("GET", "/v1/runs").json["items"]} # at once
        slow = {"code": "await new Promise(r => setTimeout(r, 2500)); 1", "agent": "me"}
        s.ask("POST", "/v1/environments", {"name": "e1", "prefix": "1"})
        detached = s.ask("POST", "/v1/runs", {**slow, "detach": True, "environment": "e1"}).json["id"]
        waiting = threading.Thread(target=s.ask, args=("POST", "/v1/runs", slow))
        waiting.start()
        time.sleep(0.2)
        c, r = s.stream("/v1/runs", {**slow, "stream": True})
        streamed = next_event(r, "start")["run"]["id"]
        queued = s.ask("POST", "/v1/runs", {**slow, "detach": True}).json["id"]
        items = s.ask("GET", "/v1/runs").json["items"]
        assert [i["id"] for i in items] == sorted((i["id"] for i in items), reverse=True) and len(items) == 7
        by_id = {i["id"]: i for i in items}
        assert {i: by_id[i]["status"] for i in (detached, streamed, queued)} == {detached: "running", streamed: "running", queued: "queued"}
        assert by_id[streamed]["agent"] == "me" and by_id[streamed]["started_at"] and by_id[streamed]["ended_at"] is None
        live = {i["id"] for i in s.ask("GET", "/v1/runs?status=running").json["items"]}
        assert len(live) == 3 and live >= {detached, streamed}
        assert [i["id"] for i in s.ask("GET", "/v1/runs?status=queued").json["items"]] == [queued]
        assert [i["id"] for i in s.ask("GET", "/v1/runs?environment=e1").json["items"]] == [detached]
        for run in live:
            got = s.ask("GET", f"/v1/runs/{run}").json
            assert got["status"] == "running" and got["started_at"]
        pages, cursor = [], None
        while True:
            page = s.ask("GET", "/v1/runs?limit=2" + (f"&cursor={cursor}" if cursor else "")).json
            pages.append([i["id"] for i in page["items"]])
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert [len(p) for p in pages] == [2, 2, 2, 1] and sum(pages, []) == [i["id"] for i in items]
        waiting.join()
        c.close()


def test_characters_are_never_cut(server):
    code = "for (let i = 0; i < 3000; i++) process.stdout.write('ä€😀')"
    events = server.ask("POST", "/v1/runs", {"code": code, "stream": True}).lines
    text = "".join(e["text"] for e in events if e["type"] == "stdout")
    assert text == "ä€😀" * 3000


def test_sse_by_accept(server):
    answer = server.ask("POST", "/v1/runs", {"code": "7"}, Accept="text/event-stream")
    assert answer.headers["content-type"] == "text/event-stream"
    blocks = [b for b in answer.body.decode().split("\n\n") if b.strip()]
    assert [b.splitlines()[1] for b in blocks] == ["event: start", "event: result", "event: end"]
    assert [b.splitlines()[0] for b in blocks] == ["id: 1", "id: 2", "id: 3"]
    assert json.loads(blocks[1].splitlines()[2].removeprefix("data: "))["result"]["value"] == 7


def test_detach_and_poll_and_read_again(server):
    code = "console.log('x'); await new Promise(r => setTimeout(r, 400)); 'done'"
    answer = server.ask("POST", "/v1/runs", {"code": code, "detach": True})
    assert answer.status == 202 and answer.json["status"] in ("running", "queued")
    where = answer.headers["location"]
    assert where == "/v1/runs/" + answer.json["id"]
    assert wait_until(lambda: server.ask("GET", where).json["status"] == "ok")
    events = server.ask("GET", where + "/events").lines
    assert [e["type"] for e in events] == ["start", "stdout", "result", "end"]
    later = server.ask("GET", where + "/events?after=2").lines
    assert later == events[2:]
    assert server.ask("GET", where + "/events?after=x").status == 422
    assert server.ask("GET", where).json["value"] == "done"


def test_a_client_that_leaves_cancels_its_run(server):
    for stream in (False, True):
        c = server.connect()
        body = json.dumps({"code": "await new Promise(r => setTimeout(r, 20000))", "stream": stream,
                           "limits": {"wall_ms_max": 30000}, "agent": f"leaver-{stream}"})
        c.request("POST", "/v1/runs", body, {"Content-Type": "application/json"})
        time.sleep(0.3)
        begin = time.monotonic()
        c.sock.close() if not stream else c.close()
        c.close()

        def gone():
            rows = server.ask("GET", "/v1/runs?status=cancelled").json["items"]
            return next((row for row in rows if row["agent"] == f"leaver-{stream}"), None)

        assert wait_until(gone, 5), stream
        assert time.monotonic() - begin < 5
        assert server.ask("GET", "/v1/runs/" + gone()["id"]).json["cancel_reason"] == "client_gone"


def test_cancel(server):
    where = server.ask("POST", "/v1/runs", {"code": "for (;;) {}", "detach": True, "limits": {"wall_ms_max": 30000, "cpu_ms_max": 30000}}).headers["location"]
    time.sleep(0.1)
    assert server.ask("POST", where + "/cancel").status == 202
    assert wait_until(lambda: server.ask("GET", where).json["status"] == "cancelled")
    result = server.ask("GET", where).json
    assert result["cancel_reason"] == "requested" and result["error"]["name"] == "Cancelled"
    assert server.ask("POST", where + "/cancel").status == 410
    assert server.ask("POST", "/v1/runs/run_00000000000000000000000000/cancel").status == 404


def test_list_in_pages(server):
    ids = [server.run(f"{i}", agent="pager")["id"] for i in range(5)]
    assert wait_until(lambda: {r["id"] for r in server.ask("GET", "/v1/runs?limit=200").json["items"]} >= set(ids))
    seen, cursor = [], ""
    while cursor is not None:
        page = server.ask("GET", f"/v1/runs?limit=2{cursor and '&cursor=' + cursor}").json
        assert len(page["items"]) <= 2
        seen += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert len(seen) == len(set(seen)) and set(ids) <= set(seen) and seen == sorted(seen, reverse=True)
    assert server.ask("GET", "/v1/runs?limit=0").status == 422
    assert server.ask("GET", "/v1/runs?cursor=nonsense").status == 422


def test_files_in_and_out(server):
    code = ("const fs = require('fs'); fs.mkdirSync('out'); fs.writeFileSync('out/b.bin', "
            "Buffer.concat([fs.readFileSync('a.bin'), Buffer.from(fs.readFileSync('t.txt', 'utf8'))])); 1")
    result = server.run(code, files={"a.bin": {"base64": "AAH/"}, "t.txt": "text"}, outs=["out/*"])
    assert result["files"] == [{"name": "out/b.bin", "size": 7}]
    got = server.ask("GET", f"/v1/runs/{result['id']}/files/out/b.bin")
    assert got.body == b"\0\x01\xfftext" and got.headers["content-disposition"] == "attachment"
    assert server.ask("GET", f"/v1/runs/{result['id']}/files/out/c").status == 404


def form(parts, boundary="xYz"):
    body = b""
    for disposition, content in parts:
        body += f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def test_files_as_a_form(server):
    request = json.dumps({"code": "require('fs').readFileSync('d/a \"b\".txt', 'latin1')"}).encode()
    body, kind = form([('name="request"', request), ('name="f"; filename="d/a \\"b\\".txt"', b"\xff\r\n--xY\0")])
    answer = server.ask("POST", "/v1/runs", body, Content_Type=kind)
    assert answer.status == 200 and answer.json["value"] == "\xff\r\n--xY\0", answer.body


@pytest.mark.parametrize("body", [
    b"", b"--xYz--\r\n", b"--xYz\r\n\r\n--xYz--\r\n", b'x--xYz\r\nContent-Disposition: form-data; name="request"\r\n\r\n{}\r\n--xYz--',
    b'--xYz\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"code":"1"}\r\n--xYz',
    b'--xYz\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"code":"1"}\r\n--xYz--junk',
    b'--xYz\r\nContent-Disposition: form-data; name=request\r\n\r\n{"code":"1"}\r\n--xYz--\r\n',
    b'--xYz\r\nContent-Disposition: form-data; name="request"; x="y"\r\n\r\n{"code":"1"}\r\n--xYz--\r\n',
])
def test_malformed_forms(server, body):
    answer = server.ask("POST", "/v1/runs", body, Content_Type="multipart/form-data; boundary=xYz")
    assert answer.status in (400, 422), answer.body


def test_idempotency(server):
    body = {"code": "Math.random()"}
    first = server.ask("POST", "/v1/runs", body, Idempotency_Key="one")
    assert wait_until(lambda: server.ask("POST", "/v1/runs", body, Idempotency_Key="one").status == 200)
    again = server.ask("POST", "/v1/runs", body, Idempotency_Key="one")
    assert again.body == first.body and again.headers["idempotent-replayed"] == "true"
    assert server.ask("POST", "/v1/runs", {"code": "2"}, Idempotency_Key="one").json["code"] == "idempotency_mismatch"
    assert server.ask("POST", "/v1/runs", body, Idempotency_Key="x" * 300).status == 422
    assert server.ask("POST", "/v1/runs", {"code": "1", "stream": True}, Idempotency_Key="s").status == 422
    slow = {"code": "await new Promise(r => setTimeout(r, 800)); 3"}
    t = threading.Thread(target=server.ask, args=("POST", "/v1/runs", slow), kwargs={"Idempotency_Key": "two"})
    t.start()
    time.sleep(0.3)
    assert server.ask("POST", "/v1/runs", slow, Idempotency_Key="two").status == 409
    t.join()


def test_tools_that_the_client_answers(server):
    tools = [{"name": "crm.find", "input": {"type": "object", "properties": {"id": {"type": "integer"}}}}, {"name": "bad"},
             {"name": "slow", "timeout_ms": 300}]
    code = ("const out = [await crm.find(7)]; try { await bad() } catch (e) { out.push(e.name, e.message, e.code) }"
            "try { await slow() } catch (e) { out.push(e.name) } out")
    c, r = server.stream("/v1/runs", {"code": code, "tools": tools, "stream": True})
    run = next_event(r, "start")["run"]["id"]
    call = next_event(r, "call")["call"]
    assert call["tool"] == "crm.find" and call["args"] == {"id": 7} and call["approval"] is False
    where = f"/v1/runs/{run}/calls/"
    assert server.ask("POST", where + call["id"], {}).status == 422
    assert server.ask("POST", where + call["id"], {"value": 1, "error": {"message": "x"}}).status == 422
    assert server.ask("POST", where + call["id"], {"value": {"name": "Ada"}}).status == 204
    assert server.ask("POST", where + call["id"], {"value": 1}).status == 410
    call = next_event(r, "call")["call"]
    assert server.ask("POST", where + call["id"], {"error": {"name": "NotFound", "message": "gone", "fields": {"code": 404}}}).status == 204
    assert next_event(r, "call")["call"]["tool"] == "slow"
    result = next_event(r, "result")["result"]
    assert result["value"] == [{"name": "Ada"}, "NotFound", "gone", 404, "TimeoutError"]
    assert [x["status"] for x in result["calls"]] == ["ok", "failed", "timeout"]
    c.close()


def test_tools_need_somebody_who_hears(server):
    assert server.ask("POST", "/v1/runs", {"code": "1", "tools": [{"name": "f"}]}).status == 422
    assert server.ask("POST", "/v1/runs", {"code": "1", "stream": True, "tools": [{"name": "f", "exec": {"command": ["/bin/id"]}}]}).status == 422


def test_approvals(server):
    tools = [{"name": "pay", "approve": True}]
    code = "const out = [await pay(1)]; try { await pay(2) } catch (e) { out.push(e.name, e.message) } out"
    c, r = server.stream("/v1/runs", {"code": code, "tools": tools, "stream": True})
    run = next_event(r, "start")["run"]["id"]
    asked = next_event(r, "call")["call"]
    assert asked["approval"] is True and asked["args"] == 1
    assert server.ask("POST", f"/v1/runs/{run}/calls/{asked['id']}", {"value": 1}).status == 422
    assert server.ask("POST", f"/v1/runs/{run}/calls/{asked['id']}", {"approve": True}).status == 204
    call = next_event(r, "call")["call"]
    assert call["approval"] is False
    assert server.ask("POST", f"/v1/runs/{run}/calls/{call['id']}", {"value": "paid"}).status == 204
    asked = next_event(r, "call")["call"]
    assert server.ask("POST", f"/v1/runs/{run}/calls/{asked['id']}", {"approve": False, "reason": "too much"}).status == 204
    value = next_event(r, "result")["result"]["value"]
    assert value[:2] == ["paid", "DeniedError"] and "too much" in value[2]
    c.close()


def test_health_and_version(server):
    assert server.ask("GET", "/healthz").json == {"status": "ok"}
    assert wait_until(lambda: server.ask("GET", "/readyz").status == 200)
    assert server.ask("GET", "/version").json["name"] == "vial"
    runtimes = server.ask("GET", "/v1/runtimes").json
    assert [r["language"] for r in runtimes["items"]] == ["javascript", "typescript", "python"]


def test_health_stays_fast(server):
    """Also while every worker is busy."""
    for _ in range(20):
        server.ask("POST", "/v1/runs", {"code": "await new Promise(r => setTimeout(r, 500))", "detach": True})
    times = []
    for _ in range(20):
        begin = time.monotonic()
        assert server.ask("GET", "/healthz").status == 200
        times.append(time.monotonic() - begin)
    assert sorted(times)[10] < 0.1


def test_a_program_that_talks_without_end_holds_nobody_up(server):
    """The loop listens to a small program itself for a moment; what it hears there is never all it does."""
    talks = threading.Thread(target=lambda: server.run("for (;;) console.log('x')", limits={"wall_ms_max": 2000, "stdout_bytes_max": 1 << 26}))
    talks.start()
    longest = 0
    while talks.is_alive():
        begin = time.monotonic()
        assert server.ask("GET", "/healthz").status == 200
        assert server.run("1 + 1")["value"] == 2
        longest = max(longest, time.monotonic() - begin)
    talks.join()
    assert longest < 1


def test_what_is_told_of_a_run_is_there_right_after_its_answer(server):
    """Events and numbers of a short run are made when its answer is on its way, and before anybody else is answered."""
    def total():
        text = server.ask("GET", "/metrics").body.decode()
        return sum(float(l.rsplit(" ", 1)[1]) for l in text.splitlines() if l.startswith("vial_runs_total{"))

    for _ in range(20):
        before = total()
        run = server.run("console.log('a'); 5")["id"]
        assert total() == before + 1
        events = server.ask("GET", f"/v1/runs/{run}/events").lines
        assert [e["type"] for e in events] == ["start", "result", "end"] and events[1]["result"]["value"] == 5


def test_metrics(server):
    server.run("1")
    text = server.ask("GET", "/metrics").body.decode()
    for name in ("vial_runs_total{language=\"javascript\",status=\"ok\"}", "vial_run_duration_seconds_bucket", "vial_http_requests_total",
                 "vial_workers{state=\"ready\"}", "vial_build_info", "process_open_fds", "vial_run_queue_seconds_count"):
        assert name in text, name
    assert "run_01" not in text


def test_scan(server):
    found = server.ask("POST", "/v1/scan", {"code": "require('child_process').exec('ls')"}).json
    assert found["status"] == "ok" and found["findings"][0]["severity"] in ("warn", "block")


def test_the_page(server):
    answer = server.ask("GET", "/")
    assert answer.headers["content-type"].startswith("text/html") and b"<!doctype html>" in answer.body
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe-inline" not in policy and "frame-ancestors 'none'" in policy
    body = answer.body.replace(b"http://www.w3.org/2000/svg", b"")  # a name, which nobody loads
    assert b"http://" not in body and b"https://" not in body


def test_keep_alive_and_pipelining(server):
    c = server.connect()
    assert [server.ask("POST", "/v1/runs", {"code": str(i)}, connection=c).json["value"] for i in range(5)] == list(range(5))
    c.close()
    one = b'POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"code":"3"}'
    last = one.replace(b"Host: a", b"Host: localhost\r\nConnection: close")
    assert server.raw(one + one + last).count(b'"value":3,') == 3


def test_chunked_bodies(server):
    c = server.connect()
    c.request("POST", "/v1/runs", iter([b'{"co', b'de":"4', b'4"}']), {"Content-Type": "application/json"}, encode_chunked=True)
    assert json.loads(c.getresponse().read())["value"] == 44
    c.close()


def test_large_results(server):
    assert len(server.run("'x'.repeat(3e6)")["value"]) == 3000000
    events = server.ask("POST", "/v1/runs", {"code": "'x'.repeat(3e6)", "stream": True}).lines
    assert len(events[1]["result"]["value"]) == 3000000


def test_http_1_0(server):
    got = server.raw(b'POST /v1/runs HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"code":"3"}')
    assert b'"value":3,' in got
