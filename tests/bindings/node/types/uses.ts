/* uses.ts - what TypeScript has to accept, what it has to infer, and (@ts-expect-error) what it has to refuse. */
import { ClosedError, Environment, GuestError, Result, Run, run, Session, start, tool, Vial, VialError } from "vial";
import type { FromSchema, GuestFunction, RunEvent, Status, Tool } from "vial";
import { createSafeFetch, createSandbox } from "vial/iso4";
import { NodeRuntime } from "vial/secure-exec";

/* Is the type of what is given exactly this one? */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function isTrue<T extends true>(): T | void {}

/* ---- tools: the schema says what the function gets ---- */

const find = tool({
    name: "crm.find",
    input: {
        type: "object", required: ["id", "kind", "tags"],
        properties: { id: { type: "integer" }, kind: { enum: ["person", "firm"] }, tags: { type: "array", items: { type: "string" } }, note: { type: "string" }, deep: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] } },
    },
    execute: async (args) => {
        isTrue<Same<typeof args.id, number>>();
        isTrue<Same<typeof args.kind, "person" | "firm">>();
        isTrue<Same<typeof args.tags, string[]>>();
        isTrue<Same<typeof args.note, string | undefined>>();
        isTrue<Same<NonNullable<typeof args.deep>["on"], boolean>>();
        // @ts-expect-error the schema has no such member
        args.nme;
        // @ts-expect-error it is a number
        args.id.toUpperCase();
        // @ts-expect-error it may be missing
        args.note.length;
        return { name: "Ada", id: args.id };
    },
});
isTrue<Same<Awaited<ReturnType<typeof find.execute>>, { name: string; id: number }>>();
// @ts-expect-error the schema demands an id
find.execute({ kind: "firm", tags: [] });
// @ts-expect-error it is none of the kinds
find.execute({ id: 1, kind: "dog", tags: [] });
void find.execute({ id: 1, kind: "firm", tags: [] });

const typed: Tool<{ n: number }, string> = tool({ input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] }, output: { type: "string" }, execute: ({ n }) => String(n) });
// @ts-expect-error the answer has to be what the output's schema says
tool({ input: { type: "string" }, output: { type: "string" }, execute: (text) => text.length });
// @ts-expect-error the function takes something else than the schema gives
tool({ input: { type: "string" }, execute: (n: number) => n });
// @ts-expect-error a tool has a function
tool({ name: "nothing" });
// @ts-expect-error there are two modes
tool({ name: "a", mode: "later", execute: () => 1 });
// @ts-expect-error milliseconds are a number
tool(() => 1, { timeoutMs: "5" });
isTrue<Same<FromSchema<{ type: "array"; items: { type: "integer" } }>, number[]>>();
isTrue<Same<FromSchema<{ const: 5 }>, 5>>();

/* ---- runs ---- */

export async function runs(): Promise<void> {
    const result = await run<number[]>("input.rows", {
        input: { rows: [1, 2, 3] }, tools: { find, typed, add: (a: number, b: number) => a + b }, limits: { wallMsMax: 100 }, timeout: 100, signal: AbortSignal.timeout(5),
        files: { a: "text", b: new Uint8Array(1) }, outs: ["*"], env: { A: "1", B: undefined }, lang: "typescript",
        approve: async (name, args) => { isTrue<Same<typeof args, unknown>>(); return name === "pay" || "no"; },
        onOutput: (stream, text) => { isTrue<Same<typeof stream, "stdout" | "stderr">>(); text.length; },
    });
    isTrue<Same<typeof result, Result<number[]>>>();
    isTrue<Same<typeof result.value, number[] | undefined>>();
    isTrue<Same<ReturnType<typeof result.valueOrThrow>, number[]>>();
    isTrue<Same<typeof result.status, Status>>();
    // @ts-expect-error there may be none
    result.value.length;
    // @ts-expect-error there is no such status
    if (result.status === "fine") { return; }
    // @ts-expect-error a result cannot be changed
    result.status = "ok";
    // @ts-expect-error results are made by runs
    new Result();
    // @ts-expect-error the code is text
    await run(5);
    // @ts-expect-error there is no such option
    await run("1", { inptu: 1 });
    // @ts-expect-error there is no such limit
    await run("1", { limits: { wal: 1 } });
    // @ts-expect-error there is no such language
    await run("1", { lang: "cobol" });
    // @ts-expect-error a tool is a function, or has one
    await run("1", { tools: { a: 5 } });
    // @ts-expect-error that is no signal
    await run("1", { signal: {} });

    const going: Run<string> = start<string>("'x'", { tools: [find, function named(n: number) { return n; }] });
    for await (const event of going) {
        isTrue<Same<typeof event, RunEvent<string>>>();
        switch (event.type) {
        case "call":
            event.data.name.length;
            break;
        case "result":
            isTrue<Same<typeof event.data, Result<string>>>();
            break;
        default:
            isTrue<Same<typeof event.data, string>>();
        }
        // @ts-expect-error there is no such event
        if (event.type === "nothing") { break; }
    }
    going.cancel();
}

/* ---- engines, sessions, environments ---- */

export async function engines(): Promise<void> {
    await using local = new Vial({ poolCount: 2, quick: true, require: ["seccomp"] });
    const remote = new Vial("https://host", { key: "vial_x", ca: "-----BEGIN", timeout: 5000 });
    const more = [new Vial(new URL("http://127.0.0.1:8700")), new Vial("unix:/run/vial.sock"), new Vial()];
    // @ts-expect-error a server has its own pool
    new Vial("https://host", { poolCount: 2 });
    // @ts-expect-error an engine of this process takes no key
    new Vial({ key: "vial_x" });
    // @ts-expect-error an address is text
    new Vial(8700);
    // @ts-expect-error the engine is this one
    await local.run("1", { engine: remote });
    isTrue<Same<typeof remote.isRemote, boolean>>();
    for (const one of [local, remote, ...more]) {
        const session = one.session({ environment: "name@1", tools: [find], idleMs: 1000 });
        const f = (await session.eval<GuestFunction<[number, number], number>>("(a, b) => a + b")).valueOrThrow();
        isTrue<Same<Awaited<ReturnType<typeof f>>, number>>();
        // @ts-expect-error it takes two
        await f(1);
        f.release();
        const branch: Session = await session.branch();
        const branches: Session[] = await session.branch(3);
        // @ts-expect-error with a count there are several
        const wrong: Session = await session.branch(3);
        // @ts-expect-error tools are the session's
        await session.eval("1", { tools: [find] });
        await Promise.all([branch, wrong, ...branches].map((each) => each.close()));
    }
    const environment = new Environment({ prefix: "const a = 1;", tools: { find } }, { engine: local });
    // @ts-expect-error the environment is this one
    await environment.run("a", { environment });
    // @ts-expect-error a prefix is text
    new Environment({ prefix: 5 });
    isTrue<Same<ReturnType<typeof Environment.check>, { path: string; message: string }[]>>();
    try {
        await environment.run("1");
    } catch (error) {
        if (error instanceof ClosedError || error instanceof VialError) {
            // @ts-expect-error there is no such code
            if (error.code === "odd") { return; }
            isTrue<Same<typeof error.status, number | undefined>>();
        } else if (error instanceof GuestError) {
            isTrue<Same<typeof error.result, Result>>();
        }
    }
}

/* ---- what users of others know ---- */

export async function others(): Promise<void> {
    const sandbox = await createSandbox();
    const prefix = await sandbox.precompile({ globals: { price: async (name: string) => name.length, rate: 1.5, fetch: createSafeFetch({ policy: ({ host }) => host === "a" }) } });
    const result = await prefix.run({ code: "1", globals: { rate: 2, price: async () => 5 }, limits: { cpuTimeMs: 100 } });
    if (result.ok) {
        result.exports.default;
        // @ts-expect-error it is ok
        result.error;
    } else {
        result.error.code === "WALL_TIMEOUT";
        // @ts-expect-error there is no such code
        result.error.code === "BORED";
    }
    // @ts-expect-error only what was declared can be bound anew
    await prefix.run({ code: "1", globals: { other: 1 } });
    // @ts-expect-error a number was declared
    await prefix.run({ code: "1", globals: { rate: "2" } });
    // @ts-expect-error a policy or rules, and not both
    createSafeFetch({ policy: () => true, rules: [] });

    const runtime = await NodeRuntime.create({ permissions: { network: "deny", fs: { default: "allow", rules: [{ mode: "deny", paths: ["/x"] }] } }, files: { a: "b" } });
    const ran = await runtime.run<{ files: string[] }>("1", { timeout: 5, onStdout: (text) => text.length });
    isTrue<Same<typeof ran.value, { files: string[] } | undefined>>();
    isTrue<Same<Awaited<ReturnType<typeof runtime.exec>>["exitCode"], number>>();
    const text: string = await runtime.readFile("a", "utf8");
    // @ts-expect-error without an encoding it is bytes
    const wrong: string = await runtime.readFile("a");
    // @ts-expect-error allow or deny
    await NodeRuntime.create({ permissions: { network: "maybe" } });
    // @ts-expect-error it is made by create()
    new NodeRuntime();
    void [text, wrong];
}
