/* process.js - node:process: what a run was given, its streams and its end. Whatever would tell
 * something about the host is a fixed value; docs/files.md lists them. */
"use strict";

const EventEmitter = require("events");
const errors = require("../lib/fs_errors.js");

const { OWNER, argumentType, argumentValue, files, outOfRange, systemError, withCode } = errors;
const { lifecycle, process: nativeProcess } = vial.native;
const { print } = vial;

const HOME = "/home/vial";
const EXEC_PATH = "/usr/bin/vial";
const VERSION = "20.20.2"; /* of Node: what programs that look at it may expect to find */
const CHUNK_BYTES = 65536; /* of standard input, at a time */
const MEMORY_BYTES = 64 * 1024 * 1024;

class Process extends EventEmitter {}
const process = Object.create(Process.prototype);
EventEmitter.call(process);
lifecycle.process = process;
Object.defineProperty(Process, "name", { value: "process" });
Object.defineProperty(process, Symbol.toStringTag,
    { value: "process", writable: false, enumerable: false, configurable: true });

/* The state of the run. */
let exitCode;
let isExiting = false;
let ticks = [];

/* ---- what the run was given ---- */

/* A property that is made when it is first looked at: the template has no run to know it from. What
 * was looked at in the template is made anew for a run. */
const lookedAt = [];

function defineLazy(name, make) {
    Object.defineProperty(process, name, {
        enumerable: true,
        configurable: true,
        get() {
            const value = make();
            process[name] = value;
            return value;
        },
        set(value) {
            lookedAt.push([name, make]);
            Object.defineProperty(process, name,
                { value, writable: true, enumerable: true, configurable: true });
        },
    });
}

lifecycle.start = () => {
    exitCode = undefined;
    isExiting = false;
    ticks = [];
    lifecycle.hasTicks = false;
    while (lookedAt.length > 0) {
        const [name, make] = lookedAt.pop();
        defineLazy(name, make);
    }
};

/* Values of variables are strings, whatever is assigned. */
const ENV_TRAPS = {
    __proto__: null,
    set(target, key, value) {
        if (typeof key === "symbol") {
            throw new TypeError("Cannot convert a Symbol value to a string");
        }
        target[key] = `${value}`;
        return true;
    },
    defineProperty(target, key, descriptor) {
        if ("value" in descriptor) {
            descriptor = { ...descriptor, value: `${descriptor.value}` };
        }
        return Reflect.defineProperty(target, key, descriptor);
    },
};

defineLazy("env", () => {
    const env = {};
    const gone = new Set(nativeProcess.envGone());
    /* A later program may not have all that this one has. */
    lifecycle.forget = () => {
        for (const name of nativeProcess.envGone()) {
            delete env[name];
        }
    };
    for (const text of nativeProcess.env()) {
        const equals = text.indexOf("=");
        if (gone.has(text.slice(0, equals))) {
            continue;
        }
        Object.defineProperty(env, text.slice(0, equals), {
            value: text.slice(equals + 1), writable: true, enumerable: true, configurable: true,
        });
    }
    return new Proxy(env, ENV_TRAPS);
});

defineLazy("argv", () => {
    const name = nativeProcess.name() ?? "main.js";
    return [EXEC_PATH, `${HOME}/${name.slice(name.lastIndexOf("/") + 1)}`, ...nativeProcess.args()];
});

Object.assign(process, {
    version: `v${VERSION}`,
    versions: { node: VERSION, modules: "115", uv: "1.46.0", v8: "11.3.244.8-node.38" },
    arch: "x64",
    platform: "linux",
    release: { name: "node", lts: "Iron" },
    argv0: "vial",
    execArgv: [],
    execPath: EXEC_PATH,
    title: "vial",
    pid: 1,
    ppid: 0,
    debugPort: 9229,
    config: { target_defaults: {}, variables: {} },
    features: { inspector: false, debug: false, uv: false, ipv6: false, tls: false },
    allowedNodeEnvironmentFlags: new Set(),
    noDeprecation: false,
    throwDeprecation: false,
});

/* ---- directories ---- */

process.cwd = function cwd() {
    const path = files.getcwd();
    return typeof path === "string" ? path : HOME;
};

process.chdir = function chdir(directory) {
    if (typeof directory !== "string") {
        throw argumentType("directory", "of type string", directory);
    }
    const result = files.chdir(errors.toPath(directory));
    if (result < 0) {
        throw systemError(result, "chdir", process.cwd(), directory);
    }
};

process.umask = function umask(mask) {
    if (mask === undefined) {
        const now = files.umask(0);
        if (now < 0) {
            return 0o22;
        }
        files.umask(now);
        return now;
    }
    return Math.max(0, files.umask(errors.toMode(mask, 0, "mask")));
};

/* ---- the end ---- */

function toExitCode(value, name) {
    if (value === undefined || value === null) {
        return undefined;
    }
    if (typeof value === "string" && /^-?\d+$/.test(value)) {
        return +value;
    }
    if (typeof value !== "number") {
        throw argumentType(name, "of type number", value);
    }
    if (!Number.isInteger(value)) {
        throw outOfRange(name, "an integer", value);
    }
    return value;
}

Object.defineProperty(process, "exitCode", {
    enumerable: true,
    configurable: false,
    get: () => exitCode,
    set(value) {
        exitCode = toExitCode(value, "code");
    },
});

/* Tells the listeners once; the code that stands then. */
function announceExit(code) {
    if (!isExiting) {
        isExiting = true;
        process._exiting = true;
        if (process.listenerCount("exit") > 0) {
            process.emit("exit", code);
        }
    }
    return exitCode ?? code;
}

process.exit = function exit(code) {
    code = toExitCode(code, "code");
    if (code !== undefined) {
        exitCode = code;
    }
    let last;
    try {
        last = announceExit(exitCode ?? 0);
    } catch (error) {
        nativeProcess.exit(1, error);
    }
    nativeProcess.exit(last & 255);
};

process.reallyExit = function reallyExit(code) {
    nativeProcess.exit((toExitCode(code, "code") ?? 0) & 255);
};

process.abort = function abort() {
    nativeProcess.exit(134);
};

lifecycle.beforeExit = () => {
    if (process.listenerCount("beforeExit") === 0) {
        return false;
    }
    process.emit("beforeExit", exitCode ?? 0);
    return true;
};

lifecycle.exit = (failed) => announceExit(failed ? 1 : exitCode ?? 0) & 255;

/* ---- ticks ----
 *
 * The prelude runs them when a task is over and before promises go on, and, for those that promises
 * asked for, when no promise can go on any more. */

lifecycle.ticks = () => {
    while (ticks.length > 0) {
        const batch = ticks;
        ticks = [];
        for (let i = 0; i < batch.length; i++) {
            Reflect.apply(batch[i].callback, process, batch[i].args);
        }
    }
    lifecycle.hasTicks = false;
};

process.nextTick = function nextTick(callback, ...args) {
    if (typeof callback !== "function") {
        throw argumentType("callback", "of type function", callback);
    }
    if (!isExiting) {
        ticks.push({ callback, args });
        lifecycle.hasTicks = true;
    }
};

/* ---- streams ---- */

function makeOutput(fd) {
    const { Writable } = require("stream");
    const stream = new Writable({
        decodeStrings: false,
        emitClose: false,
        write(chunk, encoding, callback) {
            if (typeof chunk === "string" && (encoding === "utf8" || encoding === "utf-8")) {
                print(fd, chunk);
            } else {
                const bytes = typeof chunk === "string" ? require("buffer").Buffer.from(chunk, encoding)
                    : chunk;
                nativeProcess.write(fd, bytes, 0, bytes.byteLength);
            }
            callback();
        },
    });
    stream.fd = fd;
    stream.isTTY = false;
    stream._isStdio = true;
    stream.destroySoon = stream.destroy;
    stream._destroy = (error, callback) => callback(error);
    return stream;
}

function makeInput() {
    const { Readable } = require("stream");
    const { Buffer } = require("buffer");
    const stream = new Readable({
        highWaterMark: CHUNK_BYTES,
        read(size) { /* in a task of its own, as if it had to come from somewhere */
            setImmediate(() => {
                const buffer = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
                const count = nativeProcess.stdin(buffer, 0, buffer.length);
                this.push(count === 0 ? null : buffer.subarray(0, count));
            });
        },
    });
    stream.fd = 0;
    stream.isTTY = false;
    stream.ref = () => stream;
    stream.unref = () => stream;
    return stream;
}

defineLazy("stdout", () => makeOutput(1));
defineLazy("stderr", () => makeOutput(2));
defineLazy("stdin", makeInput);
process.openStdin = function openStdin() {
    process.stdin.resume();
    return process.stdin;
};

/* ---- time and use ---- */

process.hrtime = function hrtime(before) {
    const ns = Math.round(performance.now() * 1e6);
    let seconds = Math.floor(ns / 1e9);
    let rest = ns % 1e9;
    if (before !== undefined) {
        if (!Array.isArray(before)) {
            throw argumentType("time", "an instance of Array", before);
        }
        if (before.length !== 2) {
            throw outOfRange("time", "2", before.length);
        }
        seconds -= before[0];
        rest -= before[1];
        if (rest < 0) {
            seconds--;
            rest += 1e9;
        }
    }
    return [seconds, rest];
};
process.hrtime.bigint = function bigint() {
    return BigInt(Math.round(performance.now() * 1e6));
};

process.uptime = function uptime() {
    return performance.now() / 1000;
};

process.cpuUsage = function cpuUsage(before) {
    const user = Math.round(performance.now() * 1000);
    return { user: user - (before?.user ?? 0), system: 0 };
};

process.resourceUsage = function resourceUsage() {
    return {
        userCPUTime: process.cpuUsage().user, systemCPUTime: 0, maxRSS: MEMORY_BYTES / 1024,
        sharedMemorySize: 0, unsharedDataSize: 0, unsharedStackSize: 0, minorPageFault: 0,
        majorPageFault: 0, swappedOut: 0, fsRead: 0, fsWrite: 0, ipcSent: 0, ipcReceived: 0,
        signalsCount: 0, voluntaryContextSwitches: 0, involuntaryContextSwitches: 0,
    };
};

process.memoryUsage = function memoryUsage() {
    return {
        rss: MEMORY_BYTES, heapTotal: MEMORY_BYTES / 2, heapUsed: MEMORY_BYTES / 4, external: 0,
        arrayBuffers: 0,
    };
};
process.memoryUsage.rss = function rss() {
    return MEMORY_BYTES;
};
process.constrainedMemory = () => 0;
process.availableMemory = () => MEMORY_BYTES;

/* ---- users, other processes ---- */

for (const name of ["getuid", "geteuid", "getgid", "getegid"]) {
    process[name] = () => OWNER;
}
process.getgroups = () => [OWNER];

function notPermitted(syscall) {
    const error = withCode(new Error(`EPERM: operation not permitted, ${syscall}`), "EPERM");
    error.errno = -1;
    error.syscall = syscall;
    return error;
}

for (const name of ["setuid", "seteuid", "setgid", "setegid", "setgroups", "initgroups"]) {
    process[name] = {
        [name]() {
            throw notPermitted(name);
        },
    }[name];
}

process.kill = function kill(pid, signal) {
    if (typeof pid !== "number") {
        throw argumentType("pid", "of type number", pid);
    }
    if (pid === process.pid && signal === 0) {
        return true;
    }
    throw notPermitted("kill");
};

process.binding = process._linkedBinding = function binding(name) {
    throw withCode(new Error(`No such module: ${name}`), "ERR_INVALID_MODULE");
};
process.dlopen = function dlopen() {
    throw withCode(new Error("native add-ons cannot be loaded here"), "ERR_DLOPEN_FAILED");
};

/* ---- warnings ---- */

process.emitWarning = function emitWarning(warning, type, code) {
    let detail;
    if (typeof type === "object" && type !== null) {
        ({ type, code, detail } = type);
    }
    if (typeof warning === "string") {
        warning = new Error(warning);
        warning.name = typeof type === "string" ? type : "Warning";
        if (typeof code === "string") {
            warning.code = code;
        }
        if (detail !== undefined) {
            warning.detail = detail;
        }
    } else if (!(warning instanceof Error)) {
        throw argumentType("warning", "of type string or an instance of Error", warning);
    }
    if (warning.name === "DeprecationWarning" && process.noDeprecation) {
        return;
    }
    process.nextTick(() => {
        const shown = warning.code ? `[${warning.code}] ` : "";
        print(2, `(vial:1) ${shown}${warning.name}: ${warning.message}\n` +
            (typeof warning.detail === "string" ? `${warning.detail}\n` : ""));
        process.emit("warning", warning);
    });
};

process.getActiveResourcesInfo = () => [];
process.setUncaughtExceptionCaptureCallback = function setUncaughtExceptionCaptureCallback(callback) {
    if (callback !== null) {
        throw argumentValue("fn", callback, "cannot be set here: an error that nobody catches " +
            "ends the run");
    }
};
process.hasUncaughtExceptionCaptureCallback = () => false;
process.setSourceMapsEnabled = () => {};

module.exports = process;
