/* process.js - a small process object; its data comes later from the run itself. */
const { queueMicrotask } = vial.timers;

function writer(stream) {
    return {
        fd: stream, isTTY: false, writable: true, columns: 80,
        write(chunk, encoding, callback) {
            vial.print(stream, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
            const done = typeof encoding === "function" ? encoding : callback;
            if (typeof done === "function") {
                queueMicrotask(() => done());
            }
            return true;
        },
        end() {},
        on() {
            return this;
        },
        once() {
            return this;
        },
        emit() {
            return false;
        },
    };
}

function hrtime(previous = undefined) {
    const ms = vial.now();
    let seconds = Math.floor(ms / 1000);
    let nanoseconds = Math.round(ms % 1000 * 1e6);
    if (previous !== undefined) {
        seconds -= previous[0];
        nanoseconds -= previous[1];
        if (nanoseconds < 0) {
            seconds--;
            nanoseconds += 1e9;
        }
    }
    return [seconds, nanoseconds];
}
hrtime.bigint = () => BigInt(Math.round(vial.now() * 1e6));

module.exports = {
    title: "vial", version: "v20.0.0", versions: { node: "20.0.0" }, arch: "x64", platform: "linux",
    release: { name: "node" }, pid: 1, ppid: 0, execPath: "/usr/bin/node", execArgv: [],
    env: {}, argv: ["vial", "main.js"], exitCode: undefined,
    cwd: () => "/home/vial",
    uptime: () => vial.now() / 1000,
    hrtime,
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    nextTick(callback, ...args) {
        queueMicrotask(() => callback(...args));
    },
    emitWarning(warning) {
        vial.print(2, `${typeof warning === "string" ? `Warning: ${warning}` : warning}\n`);
    },
    on() {
        return this;
    },
    once() {
        return this;
    },
    off() {
        return this;
    },
    emit: () => false,
    stdout: writer(1),
    stderr: writer(2),
};
