// harness.mjs - what the tests of the playground stand on: a real `vial serve` on loopback, a real Chromium, and
// counting.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BUILD = process.env.VIAL_BUILD ?? "build";
const READY_MS = 20_000; // a loaded machine takes seconds to start an engine
export const WAIT_MS = 15_000;

const freePort = () => new Promise((resolve, reject) => {
  const server = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

// A server of its own directory. Requests to its Unix socket need no key.
export class Server {
  static async start(...flags) {
    const server = new Server();
    server.dir = mkdtempSync(join(tmpdir(), "vial-web-"));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}`;
    server.socket = join(server.dir, "socket");
    server.log = "";
    server.process = spawn(join(BUILD, "vial"), ["serve", "--listen", `127.0.0.1:${server.port},unix:${server.socket}`,
      "--data-dir", join(server.dir, "data"), "--grace-s", "1", ...flags], { stdio: ["ignore", "ignore", "pipe"] });
    server.process.stderr.on("data", text => { server.log = (server.log + text).slice(-20_000); });
    const end = Date.now() + READY_MS;
    for (;;) {
      try {
        if ((await fetch(`${server.url}/readyz`)).ok) {
          return server;
        }
      } catch {
        // not yet
      }
      if (Date.now() > end || server.process.exitCode !== null) {
        await server.stop();
        throw new Error(`the server did not become ready: ${server.log}`);
      }
      await new Promise(done => setTimeout(done, 100));
    }
  }

  ask(method, path, body) {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(body ?? {});
      const asked = request({ socketPath: this.socket, method, path, headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) } }, answer => {
        let all = "";
        answer.on("data", part => { all += part; });
        answer.on("end", () => answer.statusCode < 300 ? resolve(all === "" ? null : JSON.parse(all))
          : reject(new Error(`${method} ${path}: ${answer.statusCode} ${all}`)));
      });
      asked.on("error", reject).end(text);
    });
  }

  stop() {
    return new Promise(resolve => {
      const done = () => {
        rmSync(this.dir, { recursive: true, force: true });
        resolve();
      };
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        done();
        return;
      }
      this.process.on("exit", done);
      this.process.kill("SIGTERM");
      setTimeout(() => this.process.kill("SIGKILL"), 8000).unref();
    });
  }
}

export function findChromium() {
  for (const name of [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean)) {
    try {
      const path = execFileSync("sh", ["-c", "command -v \"$1\"", "sh", name], { encoding: "utf8" }).trim();
      if (existsSync(path)) {
        return path;
      }
    } catch {
      // not this one
    }
  }
  return null;
}

export async function launch(chromium, executablePath) {
  // Chromium's own sandbox refuses to run as root, and user namespaces are missing in many containers. What it
  // loads here is our own page on loopback and nothing else.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

// ---- counting ----

export function check(isTrue, what) {
  if (!isTrue) {
    throw new Error(what);
  }
}

export function same(found, wanted, what) {
  const a = JSON.stringify(found), b = JSON.stringify(wanted);
  check(a === b, `${what}: found ${a?.slice(0, 400)}, wanted ${b?.slice(0, 400)}`);
}

// What the page does in a later turn: fn, an async function, gives true in the end.
export async function eventually(fn, what) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end;) {
    if (await fn()) {
      return;
    }
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error(`${what}: not within ${WAIT_MS} ms`);
}

const tests = [];
export const test = (name, fn) => tests.push([name, fn]);

export async function runAll(world, only) {
  let passed = 0, failed = 0;
  for (const [name, fn] of tests.filter(([name]) => !only || name.includes(only))) {
    const begun = Date.now();
    try {
      await fn(world);
      passed++;
      console.log(`ok ${name} (${Date.now() - begun} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}: ${error.stack ?? error}`);
      if (world.page && process.env.VIAL_SHOTS) {
        await world.page.screenshot({ path: join(process.env.VIAL_SHOTS, `failed-${failed}.png`) }).catch(() => {});
      }
    }
    await world.close();
  }
  return { passed, failed };
}
