/* iso4.d.ts - the types of vial/iso4. */
export type SandboxExports = Record<string, any>;
export type RunErrorCode =
    | "RUNTIME_ERROR" | "SYNTAX_ERROR" | "WALL_TIMEOUT" | "CPU_TIMEOUT" | "MEMORY_LIMIT" | "OUTPUT_LIMIT" | "BRIDGE_LIMIT"
    | "DISK_LIMIT" | "DENIED" | "CANCELLED" | "CRASHED";
export interface RunError { code: RunErrorCode; name: string; message: string; stack?: string }
export type RunResult =
    | { ok: true; exports: SandboxExports; stdout: string[]; stderr: string[]; durationMs: number }
    | { ok: false; error: RunError; stdout: string[]; stderr: string[]; durationMs: number };
export interface RunLimits {
    cpuTimeMs?: number; wallTimeMs?: number; memoryMb?: number; maxBridgeCalls?: number; maxBridgePayloadBytes?: number;
}
type Rebound<G> = { [K in keyof G]?: G[K] extends (...args: any[]) => any ? (...args: any[]) => any : G[K] };
export interface Prefix<G> {
    /** Only globals that were declared can be bound anew. */
    run(options: { code: string; globals?: Rebound<G>; limits?: RunLimits; signal?: AbortSignal }): Promise<RunResult>;
    dispose(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
export interface Sandbox {
    precompile<G extends Record<string, unknown> = {}>(options?: { code?: string; globals?: G }): Promise<Prefix<G>>;
    run(options: { code: string; globals?: Record<string, unknown>; limits?: RunLimits; signal?: AbortSignal }): Promise<RunResult>;
    dispose(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
export function createSandbox(options?: { maxIsolates?: number }): Promise<Sandbox>;

export interface FetchQuestion {
    url: string; host: string; hostname: string; port: string; protocol: string; path: string; method: string; headers: Record<string, string>;
}
export interface FetchRule {
    effect?: "allow" | "deny"; name?: string; match?: Record<string, unknown>; host?: string; scheme?: "http" | "https"; port?: number;
    path?: string; methods?: string[]; addresses?: string[];
}
interface FetchOptions {
    /** Addresses that may be reached though they are not public. */
    addresses?: string[];
    maxResponseBytes?: number; timeoutMs?: number; maxRedirects?: number;
}
export function createSafeFetch(options: FetchOptions & (
    | { policy: (question: FetchQuestion) => boolean | Promise<boolean>; rules?: undefined }
    | { rules: readonly FetchRule[]; policy?: undefined })): (url: string | URL, init?: RequestInit) => Promise<any>;
