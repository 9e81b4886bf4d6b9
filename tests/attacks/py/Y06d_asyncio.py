# expect: status=ok value=""
# The attacker wants a connection, a server or a pipe by the event loop.
import asyncio

async def sockets(server):
    return (await server).sockets[0]

async def try_all():
    loop = asyncio.get_running_loop()
    attempts = {
        "connect": lambda: asyncio.open_connection("127.0.0.1", 22),
        "unix": lambda: asyncio.open_unix_connection("/run/x"),
        "server": lambda: sockets(asyncio.start_server(print, "127.0.0.1", 0)),
        "datagram": lambda: loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0)),
        "exec": lambda: asyncio.create_subprocess_exec("/bin/sh"),
        "shell": lambda: asyncio.create_subprocess_shell("id"),
        "names": lambda: loop.getaddrinfo("localhost", 80),
    }
    done = []
    for name, attempt in attempts.items():
        try:
            await asyncio.wait_for(attempt(), 1)
            done.append(name)
        except BaseException:
            pass
    return ",".join(done)

await try_all()
