"""http_load.py - load on a `vial serve`, by hand: python3 tests/load/http_load.py [BUILD].

500 clients with connections that they keep make 20 runs each; 2,000 runs are queued at once; as many idle connections as descriptors
allow, up to 10,000, are held while runs go on. Prints what was answered, how long it took, and how much memory the server has."""

import asyncio
import collections
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

BODY = json.dumps({"code": "1+1"}).encode()
DETACHED = json.dumps({"code": "1+1", "detach": True}).encode()


def request(body):
    return b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def ask(reader, writer, data):
    writer.write(data)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def client(port, count, answers, times):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(count):
        begin = time.monotonic()
        status, body = await ask(reader, writer, request(BODY))
        times.append(time.monotonic() - begin)
        answers[status if status != 200 or b'"value":2' in body else "wrong"] += 1
    writer.close()


def memory_kb(pid):
    return next(int(line.split()[1]) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))


async def main(server, port):
    print("memory at the beginning:", memory_kb(server.pid), "kB")
    for round_ in range(2):
        answers, times, begin = collections.Counter(), [], time.monotonic()
        await asyncio.gather(*(client(port, 20, answers, times) for _ in range(500)))
        took = time.monotonic() - begin
        print(f"500 clients, 20 runs each, round {round_ + 1}: {dict(answers)} in {took:.1f} s, {len(times) / took:.0f}/s, "
              f"p50 {statistics.median(times) * 1000:.0f} ms, memory {memory_kb(server.pid)} kB")
    answers, begin = collections.Counter(), time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    last = None
    for _ in range(2000):
        status, body = await ask(reader, writer, request(DETACHED))
        answers[status] += 1
        last = json.loads(body).get("id", last)
    print(f"2,000 runs queued: {dict(answers)} in {time.monotonic() - begin:.1f} s")
    while True:
        status, body = await ask(reader, writer, b"GET /v1/runs/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % last.encode())
        if json.loads(body)["status"] not in ("queued", "running"):
            break
        await asyncio.sleep(0.1)
    print(f"all have ended after {time.monotonic() - begin:.1f} s, memory {memory_kb(server.pid)} kB")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    want, idle = min(10000, hard - 200), []
    for _ in range(want):
        idle.append(await asyncio.open_connection("127.0.0.1", port))
    answers, times = collections.Counter(), []
    await client(port, 100, answers, times)
    print(f"{len(idle)} idle connections: {dict(answers)}, p50 {statistics.median(times) * 1000:.1f} ms, memory {memory_kb(server.pid)} kB")
    for _, w in idle:
        w.close()
    writer.close()


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    with tempfile.TemporaryDirectory(prefix="vial-load-") as directory:
        server = subprocess.Popen([build / "vial", "serve", "--insecure-local", "--data-dir", directory, "--listen", "127.0.0.1:18790", "--queue-max", "2500",
                                   "--queue-key-max", "2500", "--connections-max", "12000", "--idle-s", "600"], stderr=subprocess.DEVNULL)
        try:
            time.sleep(1.5)
            asyncio.run(main(server, 18790))
        finally:
            server.terminate()
            print("exit code", server.wait(60))
