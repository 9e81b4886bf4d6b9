/* index.d.ts - the types of vial for Node. docs/node-binding.md tells what they mean. */
/// <reference lib="es2022" />

export type Language = "javascript" | "js" | "typescript" | "ts" | "python" | "py";
export type Status =
    | "ok" | "exception" | "wall_limit" | "cpu_limit" | "memory_limit" | "output_limit" | "call_limit" | "disk_limit"
    | "denied" | "cancelled" | "crashed";
export type Bytes = string | Uint8Array | ArrayBuffer;

/** What docs/result.md has under `limits`, in camelCase. 0 keeps the default. */
export interface Limits {
    wallMsMax?: number; cpuMsMax?: number; timersMax?: number; memoryBytesMax?: number; stdoutBytesMax?: number;
    stderrBytesMax?: number; valueBytesMax?: number; diskBytesMax?: number; filesMax?: number; openFilesMax?: number;
    callsMax?: number; callsAtOnceMax?: number; callBytesMax?: number; approvalMsMax?: number; requestsMax?: number;
    requestsAtOnceMax?: number; requestMsMax?: number; redirectsMax?: number; requestBytesMax?: number;
    responseBytesMax?: number; decodedBytesMax?: number;
}

/* ---- tools ---- */

type JsonType<T> =
    T extends "string" ? string : T extends "number" | "integer" ? number : T extends "boolean" ? boolean :
    T extends "null" ? null : T extends "array" ? unknown[] : T extends "object" ? Record<string, unknown> : unknown;

type Required_<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

/** The type of what a JSON Schema, given `as const` or in place, describes. */
export type FromSchema<S> =
    S extends { readonly const: infer C } ? C :
    S extends { readonly enum: readonly (infer E)[] } ? E :
    S extends { readonly type: "object"; readonly properties: infer P } ?
        { [K in keyof P as K extends Required_<S> ? K : never]: FromSchema<P[K]> } &
        { [K in keyof P as K extends Required_<S> ? never : K]?: FromSchema<P[K]> } :
    S extends { readonly type: "array"; readonly items: infer I } ? FromSchema<I>[] :
    S extends { readonly type: infer T } ? JsonType<T> : unknown;

export interface ToolOptions {
    name?: string;
    description?: string;
    /** "sync": the guest is blocked and gets the answer, for code that forgets await. */
    mode?: "async" | "sync";
    timeoutMs?: number;
    callsMax?: number;
    concurrencyMax?: number;
    inputBytesMax?: number;
    outputBytesMax?: number;
    /** Each call needs somebody's approval: see `approve` of a run. */
    approve?: boolean;
}

export interface Tool<A = any, R = unknown> extends ToolOptions {
    input?: unknown;
    output?: unknown;
    execute: (args: A) => R | Promise<R>;
}

export type PlainTool = (...args: any[]) => unknown;
export type Tools = readonly (Tool | PlainTool)[] | { readonly [name: string]: Tool | PlainTool };

/** Describes a tool; the type of its argument is that of its schema, and so is that of its answer when it has one. */
export function tool<const S, const O>(description: ToolOptions & {
    input: S; output: O; execute: (args: FromSchema<S>) => FromSchema<O> | Promise<FromSchema<O>>;
}): Tool<FromSchema<S>, FromSchema<O>>;
export function tool<const S, R>(description: ToolOptions & {
    input: S; output?: undefined; execute: (args: FromSchema<S>) => R | Promise<R>;
}): Tool<FromSchema<S>, R>;
export function tool<A, R>(description: ToolOptions & { input?: undefined; output?: unknown; execute: (args: A) => R | Promise<R> }): Tool<A, R>;
export function tool<A, R>(execute: (args: A) => R | Promise<R>, options?: ToolOptions & { input?: unknown; output?: unknown }): Tool<A, R>;

/* ---- runs ---- */

export interface EvalOptions {
    input?: unknown;
    limits?: Limits;
    /** Milliseconds of wall time; the same as limits.wallMsMax. */
    timeout?: number;
    name?: string;
    kind?: "auto" | "script" | "module";
    lang?: Language;
    outs?: readonly string[];
    args?: readonly string[];
    cwd?: string;
    stdin?: Bytes;
    main?: boolean;
    permissions?: Record<string, unknown>;
    net?: unknown;
    scan?: "auto" | "warn" | "block" | "only";
    approve?: boolean | ((name: string, args: unknown) => boolean | string | Promise<boolean | string>);
    onOutput?: (stream: "stdout" | "stderr", text: string) => void;
    onStdout?: (text: string) => void;
    onStderr?: (text: string) => void;
    recordCalls?: boolean;
    text?: boolean;
    signal?: AbortSignal;
}

export interface SharedOptions {
    tools?: Tools;
    files?: Record<string, Bytes> | Map<string, Bytes>;
    modules?: Record<string, string>;
    env?: Record<string, string | undefined>;
    globals?: Record<string, unknown>;
    /** A name, or name@version, is for engines at a server. */
    environment?: Environment | string;
}

export interface RunOptions extends EvalOptions, SharedOptions {
    engine?: Vial;
}

export interface ResultError {
    name: string; message: string; stack: string | null; file: string | null; line: number | null; column: number | null;
    sourceLine: string | null; hint: string | null;
    frames: { function: string; file: string; line: number; column: number }[];
}

export interface CallRecord {
    name: string; status: "ok" | "failed" | "invalid" | "denied" | "timeout" | "limit" | "cancelled"; reason: string | null;
    startUs: number; durationUs: number; inputBytes: number; outputBytes: number; input?: unknown; output?: unknown; error?: unknown;
}

/** What came of a run. A failure of the guest is one, never an exception. */
export class Result<T = any> {
    private constructor();
    readonly status: Status;
    readonly ok: boolean;
    readonly value: T | undefined;
    readonly error: ResultError | null;
    readonly stdout: string;
    readonly stderr: string;
    readonly exitCode: number | null;
    readonly text: string | undefined;
    readonly files: Record<string, Buffer>;
    readonly filesLeftOut: number;
    readonly calls: CallRecord[];
    readonly findings: Record<string, unknown>[];
    readonly artifacts: { name: string | null; representations: { mime: string; bytes: number; text?: string; base64?: string }[] }[];
    readonly usage: { wallUs: number; cpuUs: number; memoryBytesPeak: number; queueUs: number; hostUs: number; approvalUs: number };
    readonly limits: Required<Limits>;
    readonly isolation: { level: string; layers: { name: string; state: string }[] };
    readonly dropped: { stdout: number; stderr: number };
    readonly sessionLives: boolean;
    /** The value, or a GuestError is thrown. */
    valueOrThrow(): T;
    toJSON(): unknown;
}

export type RunEvent<T = any> =
    | { type: "stdout" | "stderr"; data: string }
    | { type: "call"; data: { name: string; readonly args: unknown } }
    | { type: "result"; data: Result<T> };

export class Run<T = any> implements AsyncIterable<RunEvent<T>> {
    private constructor();
    wait(): Promise<Result<T>>;
    cancel(): void;
    events(): AsyncGenerator<RunEvent<T>, void, void>;
    [Symbol.asyncIterator](): AsyncGenerator<RunEvent<T>, void, void>;
}

export function run<T = any>(code: string, options?: RunOptions): Promise<Result<T>>;
export function start<T = any>(code: string, options?: RunOptions): Run<T>;
export function defaultEngine(): Vial;
export const version: string;

export interface EngineOptions {
    poolCount?: number; runsMax?: number; queueCountMax?: number; queueMsMax?: number; noJit?: boolean; quick?: boolean;
    sessionsMax?: number; toolThreadsMax?: number; forSessions?: boolean; cellPath?: string; require?: string | readonly string[];
    lang?: Language;
}

/** Of an engine at a vial serve. */
export interface ServerOptions {
    /** Is sent over TLS, to this machine and through Unix sockets only. */
    key?: string;
    /** Certificates to trust instead of the usual ones, as PEM. */
    ca?: string | Buffer | (string | Buffer)[];
    /** Milliseconds that the server may be silent for; 30,000. Runs are not meant by this: they have their limits. */
    timeout?: number;
}

/** An engine: the processes that runs come from. */
export class Vial {
    constructor(options?: EngineOptions);
    /** At a server: "https://host", "http://127.0.0.1:8700" or "unix:/path". */
    constructor(address: string | URL, options?: ServerOptions);
    readonly isRemote: boolean;
    run<T = any>(code: string, options?: Omit<RunOptions, "engine">): Promise<Result<T>>;
    start<T = any>(code: string, options?: Omit<RunOptions, "engine">): Run<T>;
    session(options?: Omit<SessionOptions, "engine">): Session;
    environment(document?: EnvironmentDocument): Environment;
    settle(ms?: number): Promise<void>;
    /** At a server it needs the scope admin, and tells nothing of templates. */
    stats(): Promise<{ readyCount: number; busyCount: number; runCount: number; templateCount?: number; templatePid?: number }>;
    isolation(): Promise<{ level: string; layers: { name: string; state: string }[] }>;
    readonly isClosed: boolean;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** The keys of docs/environments.md; tools may be functions. */
export interface EnvironmentDocument {
    name?: string;
    prefix?: string;
    language?: "javascript" | "typescript" | "python";
    tools?: Tools | readonly unknown[];
    globals?: Record<string, unknown>;
    [key: string]: unknown;
}

export class Environment {
    constructor(document?: EnvironmentDocument, options?: { engine?: Vial });
    static check(document: unknown): { path: string; message: string }[];
    ready(): Promise<Result>;
    run<T = any>(code: string, options?: Omit<RunOptions, "engine" | "environment">): Promise<Result<T>>;
    start<T = any>(code: string, options?: Omit<RunOptions, "engine" | "environment">): Run<T>;
    session(options?: Omit<SessionOptions, "engine" | "environment">): Session;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export interface SessionOptions extends SharedOptions {
    engine?: Vial; lang?: Language; limits?: Limits; timeout?: number; name?: string; permissions?: Record<string, unknown>;
    idleMs?: number; lifeMs?: number;
}

/** A function of the guest, which stays in its session. */
export interface GuestFunction<A extends unknown[] = any[], R = any> {
    (...args: A): Promise<R>;
    release(): void;
}

/** A process that stays between programs. */
export class Session {
    constructor(options?: SessionOptions);
    eval<T = any>(code: string, options?: EvalOptions): Promise<Result<T>>;
    start<T = any>(code: string, options?: EvalOptions): Run<T>;
    branch(): Promise<Session>;
    branch(count: number): Promise<Session[]>;
    info(): Promise<{
        state: "idle" | "busy" | "ended"; id: number | string; parentId: number | string; evalCount: number; memoryBytes: number; fileCount: number;
        fileBytes: number; branchCount: number; name: string; ended: string;
    }>;
    readonly isClosed: boolean;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** vial itself could not do its job. */
export class VialError extends Error {
    readonly code: "invalid" | "nomem" | "sys" | "busy" | "isolation" | "cell" | "gone" | "denied";
    readonly sys: number;
    /** Of HTTP, when a server refused something, and what it found wrong. */
    readonly status?: number;
    readonly errors?: { path: string; message: string }[];
}
export class ClosedError extends VialError {}
/** What a guest failed with, for who asked for an exception. */
export class GuestError extends Error {
    readonly status: Status;
    readonly guestStack: string;
    readonly result: Result;
}
