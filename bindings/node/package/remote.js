/* remote.js - what local.js does, at a vial serve.
 *
 * Runs and evaluations are streamed, so that output comes as it is printed and tools are called here; a client
 * that leaves cancels what it asked for. Values go there as JSON, and come back as JSON with tags. */
import { ClosedError, VialError } from "./core.js";
import { errorOf, Server } from "./http.js";
import { answerCall, documentTool } from "./tools.js";

const languages = [undefined, "javascript", "typescript", "python"];
const scans = [undefined, "warn", "block", "only"];
const kinds = [undefined, "script", "module"];
const START_MS_MAX = 1000; // a run that was cancelled has so long to say its id, by which it is cancelled there
const FILES_AT_ONCE = 8;
const BRANCHES_AT_ONCE = 16; // of one request, as the API has it
const READY_POLL_MS = 50;
const ERROR_MESSAGE_CHARS_MAX = 8000; // of 8,192 bytes that the API takes, most are one
const REASON_CHARS_MAX = 250;

const pairsOf = (list, make) => Object.fromEntries(Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], make(list[2 * i + 1])]));

function plainText(value, what) {
    if (typeof value === "string") {
        return value;
    }
    try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value);
    } catch {
        throw new TypeError(`${what} has bytes that are no UTF-8, and to a server only text goes`);
    }
}

/** The document that the API takes for a request of request.js. */
export function bodyOf(request) {
    if (request.inputIsCbor === 1) {
        throw new TypeError("input has a value that JSON cannot say, and to a server only JSON goes");
    }
    const json = (text) => (text === undefined ? undefined : JSON.parse(text));
    const seconds = (ms) => (ms === undefined ? undefined : Math.max(1, Math.ceil(ms / 1000)));
    const body = {
        code: request.source, language: languages[request.language ?? 0], name: request.name, input: json(request.input),
        limits: request.limits, globals: json(request.globals), permissions: json(request.permissions), net: json(request.net),
        files: request.files && pairsOf(request.files, (bytes) => (typeof bytes === "string" ? bytes : { base64: bytes.toString("base64") })),
        modules: request.modules && pairsOf(request.modules, (source) => source),
        env: request.env && Object.fromEntries(request.env.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])),
        outs: request.outs, args: request.args, cwd: request.cwd, stdin: request.stdin === undefined ? undefined : plainText(request.stdin, "stdin"),
        kind: kinds[request.kind ?? 0], entry: request.main === 1 ? "main" : undefined, scan: scans[request.scan ?? 0],
        record_calls: request.recordCalls === 1 ? true : undefined, idle_s: seconds(request.idleMs), life_s: seconds(request.lifeMs),
    };
    return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/* ---- a run, from its first event to its result ---- */

class RemoteJob {
    #server;
    #tools;
    #options;
    #hooks;
    #stream;
    #id;
    #isCancelled = false;
    #document;

    constructor(server, path, body, tools, options, hooks) {
        this.#server = server;
        this.#tools = new Map(tools.map((made) => [made.name, made]));
        this.#options = options;
        this.#hooks = hooks;
        this.#stream = server.stream(path, body, (event) => this.#take(event));
        this.promise = this.#finish(body.outs !== undefined);
    }

    async #finish(hasFiles) {
        try {
            await this.#stream.over;
        } catch (error) {
            if (!this.#isCancelled || error.status !== undefined) {
                throw error;
            }
        }
        const document = this.#document;
        if (document === undefined) {
            if (!this.#isCancelled) {
                throw new VialError(`the server at ${this.#server.name} ended a run without a result`, "sys");
            }
            return rawOf({ status: "cancelled", error: { name: "Cancelled", message: "the run was cancelled" } }, []);
        }
        if (document.status === "failed") { // it was refused when it had been taken already
            throw errorOf(document.code, document.error.message);
        }
        return rawOf(document, hasFiles ? await this.#files(document.files ?? []) : []);
    }

    async #files(list) {
        const files = [];
        for (let at = 0; at < list.length; at += FILES_AT_ONCE) {
            const some = list.slice(at, at + FILES_AT_ONCE);
            files.push(...(await Promise.all(some.map(async ({ name }) => {
                const path = name.split("/").map(encodeURIComponent).join("/");
                return [name, await this.#server.bytes("GET", `/v1/runs/${this.#id}/files/${path}`)];
            }))).flat());
        }
        return files;
    }

    #take(event) {
        switch (event.type) {
        case "start":
            this.#id = event.run.id;
            if (this.#isCancelled) {
                this.#cancelThere();
            }
            break;
        case "stdout":
        case "stderr":
            this.#hooks.onText(event.type, event.text);
            break;
        case "call":
            if (event.call.approval) {
                this.#judge(event.call);
            } else {
                this.#answer(event.call);
            }
            break;
        case "result":
            this.#document = event.result;
            break;
        }
    }

    cancel() {
        if (this.#isCancelled) {
            return;
        }
        this.#isCancelled = true;
        if (this.#id !== undefined) {
            this.#cancelThere();
            return;
        }
        const timer = setTimeout(() => this.#id ?? this.#stream.leave(), START_MS_MAX);
        const clear = () => clearTimeout(timer);
        this.#stream.over.then(clear, clear);
    }

    #cancelThere() {
        this.#server.ask("POST", `/v1/runs/${this.#id}/cancel`).catch((error) => {
            if (!(error instanceof ClosedError)) { // else it is over
                this.#stream.leave();
            }
        });
    }

    /* ---- calls ---- */

    #say(callId, answer) {
        this.#server.ask("POST", `/v1/runs/${this.#id}/calls/${encodeURIComponent(callId)}`, answer).catch((error) => {
            if (error.code === "invalid" && "value" in answer) { // the guest hears what was wrong with it
                this.#say(callId, { error: { name: "AnswerError", message: error.message.slice(0, ERROR_MESSAGE_CHARS_MAX) } });
            } // else the call is over
        });
    }

    #answer(call) {
        const made = this.#tools.get(call.tool);
        const port = {
            answer: (_, id, json, cbor) => {
                if (cbor !== undefined) {
                    throw new TypeError(`the answer of ${call.tool} has a value that JSON cannot say, and to a server only JSON goes`);
                }
                this.#say(id, { value: json === undefined ? null : JSON.parse(json) });
            },
            fail: (_, id, name, message, fields) => this.#say(id,
                { error: { name, message: message.slice(0, ERROR_MESSAGE_CHARS_MAX), ...(fields === undefined ? {} : { fields: JSON.parse(fields) }) } }),
        };
        if (made === undefined) {
            port.fail(undefined, call.id, "LookupError", `there is no function for the tool ${call.tool}`);
            return;
        }
        this.#hooks.onEvent({ type: "call", data: { name: call.tool, args: call.args } });
        answerCall(port, undefined, made, call.id, () => call.args);
    }

    async #judge(call) {
        const { approve } = this.#options;
        let yes = approve === true;
        try {
            yes = typeof approve === "function" ? await approve(call.tool, call.args) : yes;
        } catch (error) {
            yes = String(error?.message ?? error);
        }
        this.#say(call.id, { approve: yes === true, ...(typeof yes === "string" ? { reason: yes.slice(0, REASON_CHARS_MAX) } : {}) });
    }
}

/* The form in which Result takes it. */
function rawOf(document, files) {
    return {
        document, files, status: document.status, stdout: document.stdout ?? "", stderr: document.stderr ?? "",
        exitCode: document.exit_code ?? -1, sessionLives: document.session_lives ? 1 : 0,
        filesLeftOut: Object.values(document.files_left_out ?? {}).reduce((sum, count) => sum + count, 0),
    };
}

/* ---- the engine ---- */

export class RemoteEngine {
    #server;
    isReady = true;
    ready = Promise.resolve();

    constructor(address, options) {
        this.#server = new Server(address, options);
    }

    run(request, made, options, hooks, environment) {
        const body = bodyOf(request);
        if (environment !== undefined) {
            body.environment = typeof environment === "string" ? environment : environment.reference;
        }
        if (made.length > 0) {
            body.tools = made.map(documentTool);
        }
        return new RemoteJob(this.#server, "/v1/runs", body, [...(environment?.tools ?? []), ...made], options, hooks);
    }

    async environment(source, made) {
        const document = JSON.parse(source);
        let said;
        try {
            said = await this.#server.ask("POST", "/v1/environments", document);
        } catch (error) {
            if (error.status !== 409) {
                throw error;
            }
            said = await this.#server.ask("PUT", `/v1/environments/${encodeURIComponent(document.name)}`, document);
        }
        return new RemoteEnvironment(this.#server, `${document.name}@${said.version}`, made);
    }

    async session(request, made, environment) {
        const body = bodyOf(request);
        if (environment !== undefined) {
            body.environment = typeof environment === "string" ? environment : environment.reference;
        }
        if (made.length > 0) {
            body.tools = made.map(documentTool);
        }
        const { id } = await this.#server.ask("POST", "/v1/sessions", body);
        return new RemoteSession(this.#server, id, [...(environment?.tools ?? []), ...made]);
    }

    /** Waits until the server would begin a run that came now. */
    async settle(ms) {
        const until = Date.now() + ms;
        while (Date.now() < until && !(await this.#server.ask("GET", "/readyz").then(() => true, () => false))) {
            await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
        }
    }

    /** Of the server's numbers those that a local engine has; needs the scope admin. */
    async stats() {
        const text = String(await this.#server.bytes("GET", "/metrics"));
        const sum = (pattern) => [...text.matchAll(pattern)].reduce((total, [, n]) => total + Number(n), 0);
        return {
            readyCount: sum(/^vial_workers\{state="ready"\} (\d+)/gm), busyCount: sum(/^vial_workers\{state="busy"\} (\d+)/gm),
            runCount: sum(/^vial_runs_total\{.*\} (\d+)/gm),
        };
    }

    async isolation() {
        return (await this.#server.ask("GET", "/v1/runtimes")).isolation;
    }

    async close() {
        this.#server.close();
    }
}

/* It is stored under its name, a new version each time it is made, and stays there. */
class RemoteEnvironment {
    #server;

    constructor(server, reference, tools) {
        this.#server = server;
        this.reference = reference;
        this.tools = tools;
    }

    async test() {
        return rawOf(await this.#server.ask("POST", `/v1/environments/${encodeURIComponent(this.reference)}/test`), []);
    }

    async close() {}
}

class RemoteSession {
    #server;
    #tools;
    #path;

    constructor(server, id, tools) {
        this.#server = server;
        this.#tools = tools;
        this.#path = `/v1/sessions/${id}`;
    }

    evaluate(request, options, hooks) {
        return new RemoteJob(this.#server, `${this.#path}/eval`, bodyOf(request), this.#tools, options, hooks);
    }

    call() {
        throw new VialError("a function of a session at a server stays there; call it in a program: session.eval(\"f(1)\")");
    }

    release() {}

    async branch(count) {
        const made = [];
        while (made.length < count) {
            const wanted = Math.min(count - made.length, BRANCHES_AT_ONCE);
            const { items } = await this.#server.ask("POST", `${this.#path}/branch`, { count: wanted });
            made.push(...items.map(({ id }) => new RemoteSession(this.#server, id, this.#tools)));
        }
        return made;
    }

    async info() {
        const { id, name, parent, state, ended, evals, branches, memory_bytes, files, file_bytes } = await this.#server.ask("GET", this.#path);
        return {
            state, id, parentId: parent ?? 0, evalCount: evals, memoryBytes: memory_bytes, fileCount: files, fileBytes: file_bytes,
            branchCount: branches, name: name ?? "", ended: ended ?? "",
        };
    }

    /* What it evaluates ends with it. */
    async end() {
        await this.#server.ask("DELETE", this.#path).catch((error) => {
            if (!(error instanceof ClosedError)) { // else it has ended before
                throw error;
            }
        });
    }

    async close() {}
}
