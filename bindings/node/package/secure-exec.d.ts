/* secure-exec.d.ts - the types of vial/secure-exec. */
export type Scope = "allow" | "deny" | readonly Record<string, unknown>[] | {
    default?: "allow" | "deny";
    rules?: readonly { mode?: "allow" | "deny"; operations?: readonly string[]; paths?: readonly string[]; patterns?: readonly string[] }[];
};
export interface Permissions { fs?: Scope; network?: Scope; childProcess?: Scope; process?: Scope; env?: Scope }
export interface RuntimeTool {
    description?: string; inputSchema?: unknown; parameters?: unknown; outputSchema?: unknown;
    execute?: (input: any) => unknown; handler?: (input: any) => unknown;
}
export type RuntimeTools = Record<string, RuntimeTool | ((...args: any[]) => unknown)> | readonly (RuntimeTool & { name: string })[];
export interface CreateOptions {
    permissions?: Permissions;
    env?: Record<string, string>;
    cwd?: string;
    files?: Record<string, string | Uint8Array>;
    mounts?: Record<string, string | { from: string }> | readonly { path: string; from: string }[];
    nodeModules?: string;
    tools?: RuntimeTools;
}
export interface ExecOptions {
    env?: Record<string, string>; cwd?: string; stdin?: string | Uint8Array; args?: readonly string[]; timeout?: number; signal?: AbortSignal;
    onStdout?: (text: string) => void; onStderr?: (text: string) => void;
}
export interface ExecResult { stdout: string; stderr: string; exitCode: number }
export interface RunResult<T> extends ExecResult { value: T | undefined }
export interface GuestProcess {
    writeStdin(data: string | Uint8Array): void;
    closeStdin(): void;
    kill(): void;
    wait(): Promise<ExecResult>;
}
export class NodeRuntime {
    private constructor();
    static create(options?: CreateOptions): Promise<NodeRuntime>;
    run<T = unknown>(code: string, options?: ExecOptions): Promise<RunResult<T>>;
    exec(code: string, options?: ExecOptions): Promise<ExecResult>;
    spawn(code: string, options?: ExecOptions): GuestProcess;
    writeFile(path: string, data: string | Uint8Array): Promise<void>;
    readFile(path: string): Promise<Uint8Array>;
    readFile(path: string, encoding: BufferEncoding): Promise<string>;
    readDir(path?: string): Promise<string[]>;
    registerTools(tools: RuntimeTools): void;
    startServer(): Promise<never>;
    openShell(): Promise<never>;
    dispose(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
