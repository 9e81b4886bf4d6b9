/* secure-exec.js - what users of secure-exec know: vial/secure-exec in the place of it.
 *
 * Each run is a fresh process. Files are kept in the runtime object, go into every run and come back from it. */
import fs from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { ClosedError, Vial, VialError } from "./index.js";
import { tool } from "./tools.js";

const HOME = "/home/vial";
const SOURCE_BYTES_MAX = 16 * 1024 * 1024;
const BUNDLE_FILES_MAX = 2000;
const defaults = { fs: "allow", network: "deny", childProcess: "allow", process: "allow", env: "allow" };
const builtins = new Set(builtinModules);
// As a shell has it: 124 for what took too long, 128 + 9 for what was killed.
const exitCodes = { wall_limit: 124, cpu_limit: 124, cancelled: 130, memory_limit: 137, crashed: 139, denied: 126 };

/* A path of the guest beneath its home, as vial names files. */
function fileName(name) {
    if (typeof name !== "string" || name === "" || name.includes("\0")) {
        throw new TypeError("a path must be a string");
    }
    const whole = path.posix.normalize(path.posix.isAbsolute(name) ? name : path.posix.join(HOME, name));
    if (whole !== HOME && !whole.startsWith(`${HOME}/`)) {
        throw new VialError(`${name} is outside of ${HOME}, which is all that a guest can write; use a relative path`);
    }
    return whole.slice(HOME.length + 1).replace(/\/$/, "");
}

const toBytes = (data, what) => {
    if (typeof data === "string") {
        return Buffer.from(data);
    }
    if (ArrayBuffer.isView(data)) {
        return Buffer.from(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
    }
    throw new TypeError(`${what} must be a string or bytes`);
};

/* "allow", "deny", vial's rules, or { default, rules: [{ mode, operations, paths }] }. */
function scopeOf(value, what) {
    if (value === "allow" || value === "deny") {
        return value;
    }
    if (Array.isArray(value)) {
        return value;
    }
    if (value === null || typeof value !== "object") {
        throw new TypeError(`permissions.${what} must be "allow", "deny" or rules`);
    }
    const every = what === "fs" ? `${HOME}/**` : "*";
    const made = value.default === "allow" ? [{ effect: "allow", match: every }] : [];
    for (const rule of value.rules ?? []) {
        for (const match of rule.paths ?? rule.patterns ?? rule.match ?? [every]) {
            const ops = what === "fs" && rule.operations && !rule.operations.includes("*") ? {
                ops: [...new Set(rule.operations.map((o) => (/^(read|stat|readdir|exists|list)/.test(o) ? "read" : "write")))],
            } : {};
            made.push({ effect: rule.mode ?? rule.effect ?? "allow", match, ...ops });
        }
    }
    return made;
}

function permissionsOf(given = {}) {
    for (const key of Object.keys(given)) {
        if (!Object.hasOwn(defaults, key)) {
            throw new TypeError(`there is no permission ${key}; there are ${Object.keys(defaults).join(", ")}`);
        }
    }
    const merged = { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
    // What a process may start is nothing, whatever childProcess says: there is only the one.
    const { network, fs: files, env, process } = merged;
    return { fs: scopeOf(files, "fs"), env: scopeOf(env, "env"), process: scopeOf(process, "process"), net: scopeOf(network, "network") };
}

/* ---- packages of the host ---- */

function exportTarget(entry) {
    if (typeof entry === "string") {
        return entry;
    }
    if (Array.isArray(entry)) {
        return entry.map(exportTarget).find((found) => found !== undefined);
    }
    if (entry !== null && typeof entry === "object") {
        for (const key of Object.keys(entry)) {
            if (["import", "node", "require", "default", "module"].includes(key)) {
                const found = exportTarget(entry[key]);
                if (found !== undefined) {
                    return found;
                }
            }
        }
    }
    return undefined;
}

const isFile = (name) => fs.statSync(name, { throwIfNoEntry: false })?.isFile() === true;

const withExtension = (name) =>
    ["", ".js", ".mjs", ".cjs", ".json", "/index.js", "/index.mjs", "/index.cjs"].map((end) => name + end).find(isFile);

/* The file behind a bare name in a folder of packages. */
function packageFile(root, specifier) {
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)\/?(.*)$/.exec(specifier) ?? [];
    const folder = path.join(root, name ?? "");
    if (name === undefined || !isFile(path.join(folder, "package.json"))) {
        return undefined;
    }
    const about = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
    const key = rest === "" ? "." : `./${rest}`;
    if (about.exports !== undefined) {
        const isMap = typeof about.exports === "object" && about.exports !== null && Object.keys(about.exports).some((k) => k.startsWith("."));
        const target = exportTarget(isMap ? about.exports[key] : key === "." ? about.exports : undefined);
        return target === undefined ? undefined : path.join(folder, target);
    }
    return withExtension(path.join(folder, rest !== "" ? rest : about.main ?? "index.js"));
}

/* The guest asks for what it imports and not for what CommonJS requires, so a CommonJS module comes with all that it
 * requires, as one source. */
function bundle(entry, find, nameOf) {
    const files = new Map();
    const add = (file) => {
        if (files.has(nameOf(file))) {
            return;
        }
        if (files.size >= BUNDLE_FILES_MAX) {
            throw new VialError(`${nameOf(entry)} requires more than ${BUNDLE_FILES_MAX} modules`);
        }
        const source = fs.readFileSync(file, "utf8");
        const needs = {};
        files.set(nameOf(file), [source, needs]);
        for (const [, , specifier] of source.matchAll(/\brequire\s*\(\s*(['"])([^'"\n]+)\1\s*\)/g)) {
            const found = find(specifier, file);
            if (found !== undefined) {
                needs[specifier] = nameOf(found);
                add(found);
            }
        }
    };
    add(entry);
    const parts = [...files].map(([name, [source, needs]]) => `${JSON.stringify(name)}: [${JSON.stringify(needs)}, ${name.endsWith(".json") ?
        `function (module) { module.exports = ${source}; }` : `function (module, exports, require, __filename, __dirname) {${source}\n}`}]`);
    return `const files = {${parts.join(",\n")}}; const cache = {}; const outside = require;
const load = (name) => { if (cache[name]) return cache[name].exports; const m = cache[name] = { exports: {} }; const [needs, body] = files[name];
body.call(m.exports, m, m.exports, (s) => Object.hasOwn(needs, s) ? load(needs[s]) : outside(s), name, name.replace(/\\/[^/]*$/, "")); return m.exports; };
module.exports = load(${JSON.stringify(nameOf(entry))});`;
}

function isEsModule(file, source) {
    if (/\.[mc]js$/.test(file)) {
        return file.endsWith(".mjs");
    }
    return /^\s*(import|export)\b/m.test(source);
}

/* A tool that gives the guest modules of a folder of packages, and of nothing else. */
function moduleLoader(folder) {
    const root = fs.realpathSync(folder);
    const given = new Set();
    const nameOf = (file) => path.relative(root, file);
    const inside = (file) => {
        const real = file === undefined || !isFile(file) ? undefined : fs.realpathSync(file);
        return real?.startsWith(`${root}${path.sep}`) && fs.statSync(real).size <= SOURCE_BYTES_MAX ? real : undefined;
    };
    const find = (specifier, from) => {
        if (specifier.startsWith("node:") || builtins.has(specifier)) {
            return undefined;
        }
        if (/^\.{1,2}(\/|$)/.test(specifier)) {
            return from === undefined ? undefined : inside(withExtension(path.join(path.dirname(from), specifier)));
        }
        for (let at = from === undefined ? root : path.dirname(from); at.startsWith(root); at = path.dirname(at)) {
            const found = inside(packageFile(at === root ? root : path.join(at, "node_modules"), specifier));
            if (found !== undefined) {
                return found;
            }
        }
        return undefined;
    };
    const execute = ({ specifier, referrer }) => {
        const file = find(specifier, referrer !== null && given.has(referrer) ? path.join(root, referrer) : undefined);
        if (file === undefined) {
            return null;
        }
        const name = nameOf(file);
        if (given.has(name)) {
            return { name };
        }
        given.add(name);
        const source = fs.readFileSync(file, "utf8");
        return { name, source: isEsModule(file, source) ? source : bundle(file, find, nameOf) };
    };
    return { ...tool({ name: "vial_modules", mode: "sync", timeoutMs: 10000, execute }), isModuleLoader: true };
}

/* ---- the runtime ---- */

function mountsOf(mounts) {
    const entries = Array.isArray(mounts) ? mounts.map((m) => [m.path ?? m.guestPath ?? m.to, m.from ?? m.hostPath ?? m.source]) :
        Object.entries(mounts).map(([to, from]) => [to, typeof from === "string" ? from : from?.from ?? from?.hostPath ?? from?.source]);
    return Object.fromEntries(entries.map(([to, from]) => {
        if (typeof from !== "string") {
            throw new TypeError("a mount must name a folder of the host: { path: folder } or { path, from }");
        }
        return [fileName(to), { from: path.resolve(from) }];
    }));
}

function toolsOf(tools = {}) {
    const entries = Array.isArray(tools) ? tools.map((t) => [t.name, t]) : Object.entries(tools);
    return entries.map(([name, what]) => {
        if (typeof what === "function") {
            return [name, what];
        }
        const { inputSchema, outputSchema, parameters, execute, handler, description } = what ?? {};
        const schema = inputSchema ?? parameters;
        return [name, tool({
            name, description, execute: execute ?? handler, output: outputSchema,
            input: typeof schema?.toJSONSchema === "function" ? schema.toJSONSchema() : schema,
        })];
    });
}

export class NodeRuntime {
    #engine;
    #environment;
    #mounts;
    #permissions;
    #env;
    #cwd;
    #nodeModules;
    #files = new Map();
    #tools = new Map();
    #isDisposed = false;

    constructor(secret, options) {
        if (secret !== NodeRuntime.#secret) {
            throw new TypeError("use NodeRuntime.create()");
        }
        const known = ["permissions", "env", "cwd", "files", "mounts", "nodeModules", "tools"];
        for (const key of Object.keys(options)) {
            if (!known.includes(key)) {
                throw new VialError(`NodeRuntime.create() has no option ${key} here; there are ${known.join(", ")}`);
            }
        }
        this.#permissions = permissionsOf(options.permissions);
        this.#env = { ...options.env };
        this.#cwd = options.cwd === undefined ? undefined : fileName(options.cwd);
        this.#nodeModules = options.nodeModules;
        if (this.#nodeModules !== undefined && typeof this.#nodeModules !== "string") {
            throw new TypeError("nodeModules must be the path of a folder of packages");
        }
        for (const [name, data] of Object.entries(options.files ?? {})) {
            this.#files.set(fileName(name), toBytes(data, `files[${JSON.stringify(name)}]`));
        }
        toolsOf(options.tools).forEach(([name, what]) => this.#tools.set(name, what));
        this.#engine = new Vial();
        this.#mounts = options.mounts === undefined ? undefined : mountsOf(options.mounts);
    }

    #toolList() {
        const list = [...this.#tools].map(([name, what]) => (typeof what === "function" ? [name, what] : [name, { ...what, name }]));
        if (this.#nodeModules !== undefined) {
            list.push(["vial_modules", moduleLoader(this.#nodeModules)]);
        }
        return Object.fromEntries(list);
    }

    /* Only an environment can have mounts. It declares the tools, so other tools mean another one. */
    #place() {
        if (this.#mounts === undefined) {
            return this.#engine;
        }
        this.#environment ??= this.#engine.environment({
            name: "secure-exec", mounts: this.#mounts, permissions: this.#permissions, tools: this.#toolList(),
        });
        return this.#environment;
    }

    static #secret = Symbol("NodeRuntime");

    /** Starts a runtime. */
    static async create(options = {}) {
        const runtime = new NodeRuntime(NodeRuntime.#secret, options);
        try {
            await runtime.#engine.stats();
            await runtime.#place()._whenReady();
        } catch (error) {
            await runtime.dispose();
            throw error;
        }
        return runtime;
    }

    #check() {
        if (this.#isDisposed) {
            throw new ClosedError("the runtime is disposed");
        }
    }

    /* What changed in the run is what changes here: several at once leave each other's files alone. */
    #keepFiles(before, result) {
        if (result.exitCode === null) {
            return;
        }
        for (const [name, bytes] of Object.entries(result.files)) {
            if (before.get(name) === undefined || !before.get(name).equals(bytes)) {
                this.#files.set(name, bytes);
            }
        }
        for (const name of result.filesLeftOut > 0 ? [] : before.keys()) {
            if (!Object.hasOwn(result.files, name)) {
                this.#files.delete(name);
            }
        }
    }

    #start(code, options) {
        this.#check();
        if (typeof code !== "string") {
            throw new TypeError("the code must be a string");
        }
        const { env = {}, cwd, stdin, timeout, signal, onStdout, onStderr, args } = options;
        const before = new Map(this.#files);
        const guestCwd = cwd === undefined ? this.#cwd : fileName(cwd);
        const all = {
            kind: "module", files: before, outs: ["**"], env: { ...this.#env, ...env }, args, stdin, timeout, signal, onStdout, onStderr,
            tools: this.#toolList(), ...(guestCwd ? { cwd: guestCwd } : {}),
        };
        if (this.#mounts === undefined) {
            const { net, ...permissions } = this.#permissions;
            Object.assign(all, { permissions, net });
        }
        // Without __return() there is no value; vial would give that of the last expression.
        const run = this.#place().start(`${code}\n;void 0;`, all);
        return { run, before };
    }

    async #finish({ run, before }) {
        const result = await run.wait();
        this.#keepFiles(before, result);
        const error = result.ok ? null : result.error;
        const said = error === null || error === undefined ? "" :
            `${error.stack || `${error.name}: ${error.message}`}\n${error.hint ? `hint: ${error.hint}\n` : ""}`;
        return {
            stdout: result.stdout, stderr: result.stderr + (result.exitCode === 0 ? "" : said),
            exitCode: result.exitCode ?? exitCodes[result.status] ?? 1, result,
        };
    }

    /** Runs a program; the value is what it passed to globalThis.__return(). */
    async run(code, options = {}) {
        const { result, ...ended } = await this.#finish(this.#start(code, options));
        return { value: result.value, ...ended };
    }

    /** Runs a program for its output. */
    async exec(code, options = {}) {
        const { stdout, stderr, exitCode } = await this.#finish(this.#start(code, options));
        return { stdout, stderr, exitCode };
    }

    /** Starts a program whose input is written piece by piece. It gets all of it at once: it starts at closeStdin() or
     *  wait(), and at once when nothing was written. */
    spawn(code, options = {}) {
        this.#check();
        return new GuestProcess((stdin) => {
            const started = this.#start(code, { ...options, stdin: stdin ?? options.stdin });
            const ended = this.#finish(started).then(({ stdout, stderr, exitCode }) => ({ stdout, stderr, exitCode }));
            return { run: started.run, ended };
        });
    }

    async writeFile(name, data) {
        this.#check();
        const file = fileName(name);
        if (file === "") {
            throw new VialError(`${name} is a folder`);
        }
        this.#files.set(file, toBytes(data, "the data"));
    }

    async readFile(name, encoding = undefined) {
        this.#check();
        const bytes = this.#files.get(fileName(name));
        if (bytes === undefined) {
            throw Object.assign(new Error(`ENOENT: no such file, open '${name}'`), { code: "ENOENT" });
        }
        return encoding === undefined ? new Uint8Array(bytes) : bytes.toString(encoding);
    }

    async readDir(name = ".") {
        this.#check();
        const folder = fileName(name);
        const prefix = folder === "" ? "" : `${folder}/`;
        const names = [...this.#files.keys()].filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length).split("/")[0]);
        if (names.length === 0 && folder !== "") {
            throw Object.assign(new Error(`ENOENT: no such folder, scandir '${name}'`), { code: "ENOENT" });
        }
        return [...new Set(names)].sort();
    }

    registerTools(tools) {
        this.#check();
        toolsOf(tools).forEach(([name, what]) => this.#tools.set(name, what));
        this.#environment = undefined; // what runs in it goes on
    }

    /** @throws always: a guest has no sockets to listen on. */
    async startServer() {
        throw new VialError("guests cannot be servers: a cell of vial has no sockets. Call run() for each request instead");
    }

    /** @throws always: there is no program in a cell but the guest. */
    async openShell() {
        throw new VialError("there are no shells: a cell of vial has one process and no programs. Use run() or exec()");
    }

    async dispose() {
        if (!this.#isDisposed) {
            this.#isDisposed = true;
            await this.#engine.close();
        }
    }

    [Symbol.asyncDispose]() {
        return this.dispose();
    }
}

/** A program that was spawned. */
class GuestProcess {
    #begin;
    #pieces = [];
    #started;
    #isKilled = false;

    constructor(begin) {
        this.#begin = begin;
        setImmediate(() => this.#pieces.length === 0 && this.#start());
    }

    #start() {
        if (this.#started === undefined) {
            try {
                this.#started = this.#begin(this.#pieces.length > 0 ? Buffer.concat(this.#pieces) : undefined);
            } catch (error) {
                this.#started = { ended: Promise.reject(error) };
            }
            this.#started.ended.catch(() => {});
            if (this.#isKilled) {
                this.#started.run?.cancel();
            }
        }
        return this.#started;
    }

    writeStdin(data) {
        if (this.#started !== undefined) {
            throw new VialError("the program has started with what was written before; write all of it before closeStdin() or wait()");
        }
        this.#pieces.push(toBytes(data, "the data"));
    }

    closeStdin() {
        this.#start();
    }

    kill() {
        this.#isKilled = true;
        this.#started?.run?.cancel();
    }

    /** { stdout, stderr, exitCode } */
    async wait() {
        return this.#start().ended;
    }
}
