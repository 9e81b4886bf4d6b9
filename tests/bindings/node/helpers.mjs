/* helpers.mjs - finds the package in the build directory, and its processes. */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
export const folder = path.resolve(root, process.env.VIAL_BUILD ?? "build", "node");
const load = (name) => import(pathToFileURL(path.join(folder, "vial", name)));

export const vial = await load("index.js");
export const iso4 = await load("iso4.js");
export const secureExec = await load("secure-exec.js");
export const cbor = await load("cbor.js");
export const core = await load("core.js");

/** Programs of cells that some process has left, by the name of the cell. */
export function cellsOf(marker) {
    const out = execFileSync("ps", ["-eo", "pid,ppid,args"], { encoding: "utf8" });
    return out.split("\n").filter((line) => line.includes(marker) && line.includes("vial-cell"));
}

/** Runs a program of Node's in a process of its own, with import ... from "vial" working. */
export function runProgram(source, { input = "", timeout = 60000, env = process.env } = {}) {
    return spawnSync(process.execPath, ["--input-type=module", "-e", source], { cwd: folder, encoding: "utf8", input, timeout, env });
}

export const isAlive = (pid) => {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        return false;
    }
};

/** Waits for a process to be gone; false when it still is there after five seconds. */
export async function isGone(pid) {
    for (let i = 0; i < 100; i++) {
        if (!isAlive(pid)) {
            return true;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
}
