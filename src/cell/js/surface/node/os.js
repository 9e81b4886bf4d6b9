/* os.js - node:os. Every answer is the same on every host; docs/files.md lists them. */
"use strict";


const MEMORY_BYTES = 512 * 1024 * 1024;

const signals = {
    SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7,
    SIGFPE: 8, SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14,
    SIGTERM: 15, SIGCHLD: 17, SIGSTKFLT: 16, SIGCONT: 18, SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21,
    SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24, SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27, SIGWINCH: 28,
    SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
};
const errno = {
    E2BIG: 7, EACCES: 13, EAGAIN: 11, EBADF: 9, EBUSY: 16, EEXIST: 17, EFBIG: 27, EINVAL: 22,
    EIO: 5, EISDIR: 21, ELOOP: 40, EMFILE: 24, EMLINK: 31, ENAMETOOLONG: 36, ENFILE: 23, ENOENT: 2,
    ENOMEM: 12, ENOSPC: 28, ENOSYS: 38, ENOTDIR: 20, ENOTEMPTY: 39, ENOTSUP: 95, EPERM: 1, EPIPE: 32,
    EROFS: 30, ESPIPE: 29, EXDEV: 18,
};
const priority = {
    PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7,
    PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20,
};

function userInfo(options) {
    const user = {
        uid: 1000, gid: 1000, username: "vial", homedir: "/home/vial", shell: null,
    };
    if (options?.encoding === "buffer") {
        const { Buffer } = require("buffer");
        user.username = Buffer.from(user.username);
        user.homedir = Buffer.from(user.homedir);
    }
    return user;
}

module.exports = {
    arch: () => "x64",
    availableParallelism: () => 1,
    cpus: () => [{
        model: "vial", speed: 1000, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
    }],
    endianness: () => "LE",
    freemem: () => MEMORY_BYTES / 2,
    getPriority: () => 0,
    homedir: () => "/home/vial",
    hostname: () => "vial",
    loadavg: () => [0, 0, 0],
    networkInterfaces: () => ({}),
    platform: () => "linux",
    release: () => "6.1.0",
    setPriority() {
        const error = new Error("A system error occurred: uv_os_setpriority returned EPERM " +
            "(operation not permitted)");
        error.code = "ERR_SYSTEM_ERROR";
        throw error;
    },
    tmpdir: () => "/tmp",
    totalmem: () => MEMORY_BYTES,
    type: () => "Linux",
    userInfo,
    uptime: () => Math.floor(performance.now()) / 1000,
    version: () => "#1 SMP",
    machine: () => "x86_64",
    constants: { UV_UDP_REUSEADDR: 4, dlopen: {}, errno, signals, priority },
    EOL: "\n",
    devNull: "/dev/null",
};
