/* serve.mjs - starts a real vial serve for tests, and makes keys and certificates for it. */
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { root } from "./helpers.mjs";

const program = path.resolve(root, process.env.VIAL_BUILD ?? "build", "vial");

/** A folder that is removed when the tests are over. */
export function temporaryFolder() {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), "vial-node-"));
    process.once("exit", () => fs.rmSync(made, { recursive: true, force: true }));
    return made;
}

/** Starts it: { addresses, data, log(), stop() }. */
export async function startServer(options, { listen = "127.0.0.1:0", data = temporaryFolder() } = {}) {
    const file = path.join(data, "log");
    const log = fs.openSync(file, "w");
    const child = spawn(program, ["serve", "--config", "/dev/null", "--data-dir", data, "--listen", listen, ...options], { stdio: ["ignore", "ignore", log] });
    const records = () => fs.readFileSync(file, "utf8").split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    for (const until = Date.now() + 20000; !records().some((one) => one.msg === "ready");) {
        if (child.exitCode !== null || Date.now() > until) {
            throw new Error(`vial serve did not start: ${fs.readFileSync(file, "utf8")}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return {
        data, pid: child.pid, records,
        addresses: records().filter((one) => one.msg === "listening").map((one) => one.address),
        stop: (signal = "SIGTERM") => (child.kill(signal), ended),
    };
}

/** A key with these scopes. */
export function makeKey(data, ...scopes) {
    const out = execFileSync(program, ["key", "create", "--data-dir", data, "--name", "test", "--scope", scopes.join(",")], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return out.match(/vial_\S+/)[0];
}

/** A certificate for localhost that nobody but itself vouches for: { certificate, key }, as files. */
export function makeCertificate() {
    const made = temporaryFolder();
    const files = { certificate: path.join(made, "certificate.pem"), key: path.join(made, "key.pem") };
    execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", files.key, "-out", files.certificate], { stdio: "ignore" });
    return files;
}
