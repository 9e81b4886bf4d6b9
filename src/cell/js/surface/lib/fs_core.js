/* fs_core.js - what all forms of node:fs are made of: errors, paths, flags, and each operation once,
 * in its synchronous form, on top of the system calls in native.files. */
"use strict";

const { Buffer } = require("buffer");
const errors = require("./fs_errors.js");

const {
    OWNER, argumentType, argumentValue, files, foundError, outOfRange, systemError, toMode, toPath,
    withCode,
} = errors;
const { process: nativeProcess } = vial.native;

const constants = Object.assign(Object.create(null), {
    UV_FS_SYMLINK_DIR: 1,
    UV_FS_SYMLINK_JUNCTION: 2,
    O_RDONLY: 0,
    O_WRONLY: 1,
    O_RDWR: 2,
    UV_DIRENT_UNKNOWN: 0,
    UV_DIRENT_FILE: 1,
    UV_DIRENT_DIR: 2,
    UV_DIRENT_LINK: 3,
    UV_DIRENT_FIFO: 4,
    UV_DIRENT_SOCKET: 5,
    UV_DIRENT_CHAR: 6,
    UV_DIRENT_BLOCK: 7,
    S_IFMT: 0o170000,
    S_IFREG: 0o100000,
    S_IFDIR: 0o040000,
    S_IFCHR: 0o020000,
    S_IFBLK: 0o060000,
    S_IFIFO: 0o010000,
    S_IFLNK: 0o120000,
    S_IFSOCK: 0o140000,
    O_CREAT: 0o100,
    O_EXCL: 0o200,
    UV_FS_O_FILEMAP: 0,
    O_NOCTTY: 0o400,
    O_TRUNC: 0o1000,
    O_APPEND: 0o2000,
    O_DIRECTORY: 0o200000,
    O_NOATIME: 0o1000000,
    O_NOFOLLOW: 0o400000,
    O_SYNC: 0o4010000,
    O_DSYNC: 0o10000,
    O_DIRECT: 0o40000,
    O_NONBLOCK: 0o4000,
    S_IRWXU: 0o700,
    S_IRUSR: 0o400,
    S_IWUSR: 0o200,
    S_IXUSR: 0o100,
    S_IRWXG: 0o70,
    S_IRGRP: 0o40,
    S_IWGRP: 0o20,
    S_IXGRP: 0o10,
    S_IRWXO: 0o7,
    S_IROTH: 0o4,
    S_IWOTH: 0o2,
    S_IXOTH: 0o1,
    F_OK: 0,
    R_OK: 4,
    W_OK: 2,
    X_OK: 1,
    UV_FS_COPYFILE_EXCL: 1,
    COPYFILE_EXCL: 1,
    UV_FS_COPYFILE_FICLONE: 2,
    COPYFILE_FICLONE: 2,
    UV_FS_COPYFILE_FICLONE_FORCE: 4,
    COPYFILE_FICLONE_FORCE: 4,
});

const FD_MAX = 2147483647;
const CHUNK_BYTES = 65536;
const DEVICE = 1; /* of every file: the real number says something about the host */

/* What a system call gave, unless it failed. */
function check(result, syscall, path, dest) {
    if (typeof result === "number" && result < 0) {
        throw systemError(result, syscall, path, dest);
    }
    return result;
}

/* ---- arguments ---- */

function toFd(value, name = "fd") {
    if (typeof value !== "number") {
        throw argumentType(name, "of type number", value);
    }
    if (!Number.isInteger(value)) {
        throw outOfRange(name, "an integer", value);
    }
    if (value < 0 || value > FD_MAX) {
        throw outOfRange(name, `>= 0 && <= ${FD_MAX}`, value);
    }
    return value;
}

const FLAGS = {
    __proto__: null,
    r: 0, rs: 0o4010000, sr: 0o4010000, "r+": 2, "rs+": 0o4010002, "sr+": 0o4010002,
    w: 0o1101, wx: 0o1301, xw: 0o1301, "w+": 0o1102, "wx+": 0o1302, "xw+": 0o1302,
    a: 0o2101, ax: 0o2301, xa: 0o2301, as: 0o4012101, sa: 0o4012101,
    "a+": 0o2102, "ax+": 0o2302, "xa+": 0o2302, "as+": 0o4012102, "sa+": 0o4012102,
};

function toFlags(flags, otherwise = "r") {
    if (flags === undefined || flags === null) {
        return FLAGS[otherwise];
    }
    if (typeof flags === "number") {
        return flags;
    }
    const number = FLAGS[flags];
    if (number === undefined) {
        throw argumentValue("flags", flags);
    }
    return number;
}

/* Options that may be an encoding alone. */
function toOptions(options, defaults) {
    if (options === undefined || options === null || typeof options === "function") {
        return defaults;
    }
    if (typeof options === "string") {
        options = { ...defaults, encoding: options };
    } else if (typeof options !== "object") {
        throw argumentType("options", "one of type string or object", options);
    } else {
        options = { ...defaults, ...options };
    }
    const { encoding } = options;
    if (encoding !== undefined && encoding !== null && encoding !== "buffer" &&
        !Buffer.isEncoding(encoding)) {
        throw argumentValue("encoding", encoding, "is invalid encoding");
    }
    if (options.signal?.aborted) {
        throw abortError(options.signal);
    }
    return options;
}

function abortError(signal) {
    const error = withCode(new Error("The operation was aborted", { cause: signal.reason }),
        "ABORT_ERR");
    error.name = "AbortError";
    return error;
}

function encode(buffer, encoding) {
    return encoding === undefined || encoding === null || encoding === "buffer" ? buffer
        : buffer.toString(encoding);
}

/* A name in the encoding that the options ask for. */
function encodeName(name, options) {
    const encoding = toOptions(options, {}).encoding;
    return encoding === undefined || encoding === null || encoding === "utf8" ||
        encoding === "utf-8" ? name : encode(Buffer.from(name), encoding);
}

function isView(value) {
    return ArrayBuffer.isView(value);
}

function bytesOfView(view) {
    return view instanceof Uint8Array ? view
        : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function toBytes(data, encoding, name = "data") {
    if (typeof data === "string") {
        return Buffer.from(data, encoding ?? "utf8");
    }
    if (!isView(data)) {
        throw argumentType(name,
            "of type string or an instance of Buffer, TypedArray, or DataView", data);
    }
    return bytesOfView(data);
}

function toLength(length) {
    if (length === undefined || length === null) {
        return 0;
    }
    if (typeof length !== "number") {
        throw argumentType("len", "of type number", length);
    }
    if (!Number.isInteger(length)) {
        throw outOfRange("len", "an integer", length);
    }
    return Math.max(0, length);
}

/* A time in seconds, or a Date, as whole seconds and nanoseconds. */
function toTime(time, name) {
    let ms;
    if (typeof time === "string" && +time == time) { // eslint-disable-line eqeqeq
        ms = +time * 1000;
    } else if (typeof time === "number" && Number.isFinite(time)) {
        ms = (time < 0 ? Date.now() / 1000 : time) * 1000;
    } else if (time instanceof Date) {
        ms = time.getTime();
    } else {
        throw argumentType(name, "one of type number or string or an instance of Date", time);
    }
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}

/* ---- what calls give ---- */

class StatsBase {
    isDirectory() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFDIR;
    }

    isFile() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFREG;
    }

    isBlockDevice() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFBLK;
    }

    isCharacterDevice() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFCHR;
    }

    isSymbolicLink() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFLNK;
    }

    isFIFO() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFIFO;
    }

    isSocket() {
        return (Number(this.mode) & constants.S_IFMT) === constants.S_IFSOCK;
    }
}

/* The numbers of native stat: mode, nlink, uid, gid, rdev, blksize, ino, size, blocks, then seconds
 * and nanoseconds of atime, mtime and ctime. The kernel tells no birth time here: ctime stands in. */
class Stats extends StatsBase {
    constructor(n) {
        super();
        const ms = (i) => n[i] * 1000 + n[i + 1] / 1e6;
        this.dev = DEVICE;
        this.mode = n[0];
        this.nlink = n[1];
        this.uid = OWNER;
        this.gid = OWNER;
        this.rdev = 0;
        this.blksize = n[5];
        this.ino = n[6];
        this.size = n[7];
        this.blocks = n[8];
        this.atimeMs = ms(9);
        this.mtimeMs = ms(11);
        this.ctimeMs = ms(13);
        this.birthtimeMs = ms(13);
        this.atime = new Date(this.atimeMs + 0.5);
        this.mtime = new Date(this.mtimeMs + 0.5);
        this.ctime = new Date(this.ctimeMs + 0.5);
        this.birthtime = new Date(this.birthtimeMs + 0.5);
    }
}

class BigIntStats extends StatsBase {
    constructor(n) {
        super();
        const ns = (i) => BigInt(n[i]) * 1000000000n + BigInt(n[i + 1]);
        this.dev = BigInt(DEVICE);
        this.mode = BigInt(n[0]);
        this.nlink = BigInt(n[1]);
        this.uid = BigInt(OWNER);
        this.gid = BigInt(OWNER);
        this.rdev = 0n;
        this.blksize = BigInt(n[5]);
        this.ino = BigInt(n[6]);
        this.size = BigInt(n[7]);
        this.blocks = BigInt(n[8]);
        this.atimeMs = ns(9) / 1000000n;
        this.mtimeMs = ns(11) / 1000000n;
        this.ctimeMs = ns(13) / 1000000n;
        this.birthtimeMs = ns(13) / 1000000n;
        this.atimeNs = ns(9);
        this.mtimeNs = ns(11);
        this.ctimeNs = ns(13);
        this.birthtimeNs = ns(13);
        this.atime = new Date(Number(this.atimeMs));
        this.mtime = new Date(Number(this.mtimeMs));
        this.ctime = new Date(Number(this.ctimeMs));
        this.birthtime = new Date(Number(this.birthtimeMs));
    }
}

function makeStats(numbers, options) {
    return options?.bigint ? new BigIntStats(numbers) : new Stats(numbers);
}

class StatFs {
    constructor(n) {
        [this.type, this.bsize, this.blocks, this.bfree, this.bavail, this.files, this.ffree] = n;
    }
}

/* Node's numbers for what an entry is, by those of the kernel. */
const DIRENT_TYPES = { __proto__: null, 1: 4, 2: 6, 4: 2, 6: 7, 8: 1, 10: 3, 12: 5 };
const direntType = Symbol("type");

class Dirent {
    constructor(name, parentPath, type) {
        this.name = name;
        this.parentPath = parentPath;
        this.path = parentPath;
        this[direntType] = type;
    }

    isDirectory() {
        return this[direntType] === constants.UV_DIRENT_DIR;
    }

    isFile() {
        return this[direntType] === constants.UV_DIRENT_FILE;
    }

    isBlockDevice() {
        return this[direntType] === constants.UV_DIRENT_BLOCK;
    }

    isCharacterDevice() {
        return this[direntType] === constants.UV_DIRENT_CHAR;
    }

    isSymbolicLink() {
        return this[direntType] === constants.UV_DIRENT_LINK;
    }

    isFIFO() {
        return this[direntType] === constants.UV_DIRENT_FIFO;
    }

    isSocket() {
        return this[direntType] === constants.UV_DIRENT_SOCKET;
    }
}

/* ---- standard descriptors ----
 *
 * 0, 1 and 2 are the run's input and output, which travel through the host. They work in runs
 * without files too. */

const STANDARD = {
    __proto__: null,
    "/dev/stdin": 0, "/proc/self/fd/0": 0, "/dev/fd/0": 0,
    "/dev/stdout": 1, "/proc/self/fd/1": 1, "/dev/fd/1": 1,
    "/dev/stderr": 2, "/proc/self/fd/2": 2, "/dev/fd/2": 2,
};
const STANDARD_STAT = [constants.S_IFIFO | 0o600, 1, 0, 0, 0, 4096, 1, 0, 0, 0, 0, 0, 0, 0, 0];

function readFd(fd, bytes, offset, length, position) {
    return fd === 0 ? nativeProcess.stdin(bytes, offset, length)
        : files.read(fd, bytes, offset, length, position);
}

function writeFd(fd, bytes, offset, length, position) {
    if (fd === 1 || fd === 2) {
        nativeProcess.write(fd, bytes, offset, length);
        return length;
    }
    return files.write(fd, bytes, offset, length, position);
}

/* ---- operations ---- */

function openFile(path, flags, mode) {
    const standard = STANDARD[path];
    return standard !== undefined ? standard : check(files.open(path, flags, mode), "open", path);
}

function closeFile(fd) {
    if (fd > 2) {
        check(files.close(fd), "close");
    }
}

/* Gives fn an open file, which is closed whatever happens. */
function withFile(path, flags, mode, fn) {
    const fd = openFile(path, flags, mode);
    try {
        return fn(fd);
    } finally {
        if (fd > 2) {
            files.close(fd);
        }
    }
}

function readAll(fd) {
    const stat = fd > 2 ? check(files.fstat(fd), "fstat") : undefined;
    const known = stat === undefined ? nativeProcess.stdinLeft() : stat[7];
    const chunks = [];
    let total = 0;
    let room = Math.max(0, known);
    for (;;) {
        const buffer = Buffer.allocUnsafe(room > 0 ? room : CHUNK_BYTES);
        let filled = 0;
        let count = 1;
        while (filled < buffer.length && count > 0) {
            count = check(readFd(fd, buffer, filled, buffer.length - filled, -1), "read");
            filled += count;
        }
        if (filled > 0) {
            chunks.push(filled === buffer.length ? buffer : buffer.subarray(0, filled));
            total += filled;
        }
        if (count === 0 || (room > 0 && total === known && stat !== undefined)) {
            break;
        }
        room = 0;
    }
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, total);
}

function writeAll(fd, bytes, position = -1) {
    let done = 0;
    while (done < bytes.length) {
        done += check(writeFd(fd, bytes, done, bytes.length - done,
            position < 0 ? -1 : position + done), "write");
    }
}

function isHandle(value) {
    return typeof value === "object" && value !== null && typeof value.fd === "number";
}

/* A descriptor, or a FileHandle that has one; undefined when it is a path. */
function fdOf(target) {
    return typeof target === "number" ? toFd(target) : isHandle(target) ? target.fd : undefined;
}

function readFile(target, options) {
    options = toOptions(options, { flag: "r" });
    const fd = fdOf(target);
    const buffer = fd !== undefined ? readAll(fd)
        : withFile(toPath(target), toFlags(options.flag), 0o666, readAll);
    return encode(buffer, options.encoding);
}

function writeFile(target, data, options) {
    options = toOptions(options, { encoding: "utf8", mode: 0o666, flag: "w" });
    const bytes = toBytes(data, options.encoding);
    const fd = fdOf(target);
    const put = (to) => {
        writeAll(to, bytes);
        if (options.flush && to > 2) {
            check(files.fsync(to), "fsync");
        }
    };
    if (fd !== undefined) {
        put(fd);
    } else {
        withFile(toPath(target), toFlags(options.flag, "w"), toMode(options.mode, 0o666), put);
    }
}

function appendFile(target, data, options) {
    writeFile(target, data, toOptions(options, { encoding: "utf8", mode: 0o666, flag: "a" }));
}

function stat(path, options) {
    path = toPath(path);
    const standard = STANDARD[path];
    const numbers = standard !== undefined ? STANDARD_STAT : files.stat(path);
    if ((numbers === -2 || numbers === -20) && options?.throwIfNoEntry === false) {
        return undefined;
    }
    return makeStats(check(numbers, "stat", path), options);
}

function lstat(path, options) {
    path = toPath(path);
    const numbers = files.lstat(path);
    if ((numbers === -2 || numbers === -20) && options?.throwIfNoEntry === false) {
        return undefined;
    }
    return makeStats(check(numbers, "lstat", path), options);
}

function fstat(fd, options) {
    fd = toFd(fd);
    return makeStats(fd <= 2 ? STANDARD_STAT : check(files.fstat(fd), "fstat"), options);
}

function statfs(path, options) {
    path = toPath(path);
    const numbers = check(files.statfs(path), "statfs", path);
    return new StatFs(options?.bigint ? numbers.map(BigInt) : numbers);
}

function exists(path) {
    try {
        path = toPath(path);
        return STANDARD[path] !== undefined || files.access(path, 0) === 0;
    } catch {
        return false;
    }
}

function access(path, mode) {
    path = toPath(path);
    check(files.access(path, toMode(mode, 0)), "access", path);
}

/* The entries of a directory as [name, type], by name. */
function listDirectory(path, syscall = "scandir") {
    const text = check(files.readdir(path), syscall, syscall === "opendir" ? undefined : path);
    const entries = [];
    for (const entry of text.split("/")) {
        if (entry !== "") {
            entries.push([entry.slice(1), DIRENT_TYPES[parseInt(entry[0], 16)] ?? 0]);
        }
    }
    return entries.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
}

function joinPath(directory, name) {
    return directory === "" || directory === "." ? name
        : directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

function readdir(path, options) {
    options = toOptions(options, {});
    const top = toPath(path);
    const result = [];
    const pending = [["", top]];
    while (pending.length > 0) {
        const [prefix, directory] = pending.shift();
        for (const [name, type] of listDirectory(directory)) {
            if (options.withFileTypes) {
                result.push(new Dirent(encodeName(name, options), directory, type));
            } else {
                result.push(encodeName(prefix + name, options));
            }
            if (options.recursive && type === constants.UV_DIRENT_DIR) {
                pending.push([`${prefix}${name}/`, directory.endsWith("/") ? directory + name
                    : `${directory}/${name}`]);
            }
        }
    }
    return result;
}

/* Makes a directory and those above it; the first one that was missing, or undefined. */
function mkdirRecursive(path, mode) {
    const missing = [];
    let current = path.length > 1 ? path.replace(/\/+$/, "") : path;
    for (;;) {
        const result = files.mkdir(current, mode);
        if (result === 0) {
            break;
        }
        if (result === -2) {
            const slash = current.lastIndexOf("/");
            if (slash <= 0) {
                throw systemError(result, "mkdir", path);
            }
            missing.push(current);
            current = current.slice(0, slash).replace(/\/+$/, "");
            continue;
        }
        const numbers = files.stat(current);
        const isDirectory = typeof numbers !== "number" &&
            (numbers[0] & constants.S_IFMT) === constants.S_IFDIR;
        if (!isDirectory) {
            throw systemError(result === -17 && missing.length > 0 ? -20 : result, "mkdir", path);
        }
        if (missing.length === 0) {
            return undefined;
        }
        current = undefined;
        break;
    }
    let first = current;
    while (missing.length > 0) {
        const next = missing.pop();
        const result = files.mkdir(next, mode);
        if (result < 0 && result !== -17) {
            throw systemError(result, "mkdir", path);
        }
        first = first ?? next;
    }
    return first;
}

function mkdir(path, options) {
    path = toPath(path);
    const isMode = typeof options === "number" || typeof options === "string";
    const mode = toMode(isMode ? options : options?.mode, 0o777);
    if (!isMode && options?.recursive) {
        return mkdirRecursive(path, mode);
    }
    check(files.mkdir(path, mode), "mkdir", path);
    return undefined;
}

function isDirectoryNoFollow(path) {
    const numbers = files.lstat(path);
    return typeof numbers !== "number" &&
        (numbers[0] & constants.S_IFMT) === constants.S_IFDIR;
}

/* Removes a tree without following links and without recursion: a directory stays on the list
 * until everything that was in it is gone. */
function removeTree(path) {
    const pending = [path];
    while (pending.length > 0) {
        const directory = pending[pending.length - 1];
        const result = files.rmdir(directory);
        if (result === 0 || result === -2) {
            pending.pop();
            continue;
        }
        if (result !== -39 && result !== -17) {
            throw systemError(result, "rmdir", directory);
        }
        for (const [name, type] of listDirectory(directory)) {
            const child = joinPath(directory, name);
            if (type === constants.UV_DIRENT_DIR) {
                pending.push(child);
            } else {
                check(files.unlink(child), "unlink", child);
            }
        }
    }
}

function rm(path, options) {
    path = toPath(path);
    const numbers = files.lstat(path);
    if (numbers === -2 && options?.force) {
        return;
    }
    check(numbers, "lstat", path);
    if ((numbers[0] & constants.S_IFMT) !== constants.S_IFDIR) {
        check(files.unlink(path), "unlink", path);
    } else if (!options?.recursive) {
        throw foundError("ERR_FS_EISDIR", "Path is a directory", "rm", 21, "EISDIR",
            "is a directory", path);
    } else {
        removeTree(path);
    }
}

function rmdir(path, options) {
    path = toPath(path);
    if (options?.recursive && isDirectoryNoFollow(path)) {
        removeTree(path);
        return;
    }
    check(files.rmdir(path), "rmdir", path);
}

function unlink(path) {
    path = toPath(path);
    check(files.unlink(path), "unlink", path);
}

function rename(from, to) {
    from = toPath(from, "oldPath");
    to = toPath(to, "newPath");
    check(files.rename(from, to), "rename", from, to);
}

function link(from, to) {
    from = toPath(from, "existingPath");
    to = toPath(to, "newPath");
    check(files.link(from, to), "link", from, to);
}

function symlink(target, path) {
    target = toPath(target, "target");
    path = toPath(path);
    check(files.symlink(target, path), "symlink", target, path);
}

function readlink(path, options) {
    path = toPath(path);
    return encodeName(check(files.readlink(path), "readlink", path), options);
}

function resolvePath(path) {
    return path.startsWith("/") ? path : joinPath(check(files.getcwd(), "getcwd"), path);
}

function realpath(path, options) {
    path = toPath(path);
    const result = files.realpath(path);
    return encodeName(typeof result === "number" ? check(result, "lstat", resolvePath(path))
        : result, options);
}

function realpathNative(path, options) {
    path = toPath(path);
    return encodeName(check(files.realpath(path), "realpath", path), options);
}

function copyFile(from, to, mode) {
    from = toPath(from, "src");
    to = toPath(to, "dest");
    check(files.copy(from, to, toMode(mode, 0) & constants.COPYFILE_EXCL), "copyfile", from, to);
}

/* What a link at a place points to, as an absolute path without detours. */
function resolveFrom(place, target) {
    const parts = [];
    const path = target.startsWith("/") ? target
        : `${resolvePath(place).replace(/[^/]*$/, "")}${target}`;
    for (const part of path.split("/")) {
        if (part === "..") {
            parts.pop();
        } else if (part !== "" && part !== ".") {
            parts.push(part);
        }
    }
    return `/${parts.join("/")}`;
}

/* One entry of a tree that is copied; directories are put on the list. */
function copyEntry(from, to, options, pending) {
    const numbers = check(options.dereference ? files.stat(from) : files.lstat(from),
        options.dereference ? "stat" : "lstat", from);
    const kind = numbers[0] & constants.S_IFMT;
    if (kind === constants.S_IFDIR) {
        const result = files.mkdir(to, numbers[0] & 0o777);
        if (result < 0 && !(result === -17 && isDirectoryNoFollow(to))) {
            throw systemError(result, "mkdir", to);
        }
        for (const [name] of listDirectory(from)) {
            pending.push([joinPath(from, name), joinPath(to, name)]);
        }
        return;
    }
    if (files.access(to, 0) === 0) {
        if (options.errorOnExist && options.force === false) {
            throw foundError("ERR_FS_CP_EEXIST", "Target already exists", "cp", 17, "EEXIST",
                `${to} already exists`, to);
        }
        if (options.force === false) {
            return;
        }
        check(files.unlink(to), "unlink", to);
    }
    if (kind === constants.S_IFLNK) {
        const target = check(files.readlink(from), "readlink", from);
        check(files.symlink(options.verbatimSymlinks ? target : resolveFrom(from, target), to),
            "symlink", target, to);
    } else {
        check(files.copy(from, to, 0), "copyfile", from, to);
        if (options.preserveTimestamps) {
            check(files.utimes(to, numbers[9], numbers[10], numbers[11], numbers[12], 0), "utime",
                to);
        }
    }
}

/* Checks what cp is asked to do; the pair to begin with. */
const INODE = 6; /* in what files.stat gives */

function beginCopy(from, to, options) {
    from = toPath(from, "src");
    to = toPath(to, "dest");
    const numbers = check(files.lstat(from), "lstat", from);
    const isDirectory = (numbers[0] & constants.S_IFMT) === constants.S_IFDIR;
    if (isDirectory && !options.recursive) {
        throw foundError("ERR_FS_EISDIR", "Path is a directory", "cp", 22, "EISDIR",
            `${from} is a directory (not copied)`, from);
    }
    const target = files.stat(to);
    if (typeof target === "object" && target[INODE] === numbers[INODE]) { /* there is one device */
        throw foundError("ERR_FS_CP_EINVAL", "Invalid src or dest", "cp", 22, "EINVAL",
            "src and dest cannot be the same", to);
    }
    const inside = `${resolvePath(from).replace(/\/+$/, "")}/`;
    if (isDirectory && `${resolvePath(to)}/`.startsWith(inside)) {
        throw foundError("ERR_FS_CP_EINVAL", "Invalid src or dest", "cp", 22, "EINVAL",
            `cannot copy ${from} to a subdirectory of self ${to}`, to);
    }
    const slash = to.lastIndexOf("/");
    if (slash > 0) {
        mkdirRecursive(to.slice(0, slash), 0o777);
    }
    return [from, to];
}

function cp(from, to, options = {}) {
    const pending = [beginCopy(from, to, options)];
    while (pending.length > 0) {
        const [source, target] = pending.shift();
        if (typeof options.filter !== "function" || options.filter(source, target)) {
            copyEntry(source, target, options, pending);
        }
    }
}

/* The same with a filter that may be asynchronous. */
async function cpAsync(from, to, options = {}) {
    const pending = [beginCopy(from, to, options)];
    while (pending.length > 0) {
        const [source, target] = pending.shift();
        if (typeof options.filter !== "function" || await options.filter(source, target)) {
            copyEntry(source, target, options, pending);
        }
    }
}

function chmod(path, mode) {
    path = toPath(path);
    check(files.chmod(path, toMode(mode)), "chmod", path);
}

function fchmod(fd, mode) {
    check(files.fchmod(toFd(fd), toMode(mode)), "fchmod");
}

/* There is one user in a cell, and nothing to give away. */
function chown(path) {
    throw systemError(-1, "chown", toPath(path));
}

function utimes(path, atime, mtime) {
    path = toPath(path);
    check(files.utimes(path, ...toTime(atime, "atime"), ...toTime(mtime, "mtime"), 0), "utime",
        path);
}

function lutimes(path, atime, mtime) {
    path = toPath(path);
    check(files.utimes(path, ...toTime(atime, "atime"), ...toTime(mtime, "mtime"), 1), "lutime",
        path);
}

function futimes(fd, atime, mtime) {
    check(files.futimes(toFd(fd), ...toTime(atime, "atime"), ...toTime(mtime, "mtime")), "futime");
}

function ftruncate(fd, length) {
    check(files.ftruncate(toFd(fd), toLength(length)), "ftruncate");
}

function truncate(path, length) {
    if (typeof path === "number") {
        ftruncate(path, length);
        return;
    }
    withFile(toPath(path), constants.O_RDWR, 0o666, (fd) => ftruncate(fd, length));
}

function mkdtemp(prefix, options) {
    const path = `${toPath(prefix, "prefix")}XXXXXX`;
    return encodeName(check(files.mkdtemp(path), "mkdtemp", path), options);
}

function fsync(fd) {
    fd = toFd(fd);
    if (fd > 2) {
        check(files.fsync(fd), "fsync");
    }
}

function fdatasync(fd) {
    fd = toFd(fd);
    if (fd > 2) {
        check(files.fsync(fd), "fdatasync");
    }
}

function open(path, flags, mode) {
    return openFile(toPath(path), toFlags(flags), toMode(mode, 0o666));
}

function close(fd) {
    closeFile(toFd(fd));
}

/* The arguments of read and write behind the buffer: (offset, length, position), or one object. */
function toSpan(buffer, offset, length, position) {
    if (typeof offset === "object" && offset !== null) {
        ({ offset = 0, length, position = null } = offset);
    }
    offset = offset ?? 0;
    if (typeof offset !== "number") {
        throw argumentType("offset", "of type number", offset);
    }
    if (!Number.isInteger(offset)) {
        throw outOfRange("offset", "an integer", offset);
    }
    if (offset < 0) {
        throw outOfRange("offset", ">= 0 && <= 9007199254740991", offset);
    }
    length = length ?? buffer.byteLength - offset;
    if (typeof length !== "number") {
        throw argumentType("length", "of type number", length);
    }
    if (length < 0) {
        throw outOfRange("length", ">= 0", length);
    }
    if (length > buffer.byteLength - offset) {
        throw outOfRange("length", `<= ${buffer.byteLength - offset}`, length);
    }
    const at = typeof position === "bigint" ? Number(position)
        : typeof position === "number" && position >= 0 ? position : -1;
    return [offset, length, at];
}

function read(fd, buffer, offset, length, position) {
    fd = toFd(fd);
    if (!isView(buffer)) {
        throw argumentType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer);
    }
    const [from, count, at] = toSpan(buffer, offset, length, position);
    return count === 0 ? 0 : check(readFd(fd, bytesOfView(buffer), from, count, at), "read");
}

function write(fd, data, offset, length, position) {
    fd = toFd(fd);
    if (typeof data === "string") { /* (fd, string, position, encoding) */
        const bytes = Buffer.from(data, typeof length === "string" ? length : "utf8");
        const at = typeof offset === "number" && offset >= 0 ? offset : -1;
        return bytes.length === 0 ? 0
            : check(writeFd(fd, bytes, 0, bytes.length, at), "write");
    }
    if (!isView(data)) {
        throw argumentType("buffer",
            "of type string or an instance of Buffer, TypedArray, or DataView", data);
    }
    const [from, count, at] = toSpan(data, offset, length, position);
    return count === 0 ? 0 : check(writeFd(fd, bytesOfView(data), from, count, at), "write");
}

function vectored(one, fd, buffers, position) {
    if (!Array.isArray(buffers) || !buffers.every(isView)) {
        throw argumentType("buffers", "an instance of ArrayBufferView[]", buffers);
    }
    let total = 0;
    for (const buffer of buffers) {
        const at = typeof position === "number" ? position + total : null;
        const count = one(fd, buffer, 0, buffer.byteLength, at);
        total += count;
        if (count < buffer.byteLength) {
            break;
        }
    }
    return total;
}

function readv(fd, buffers, position) {
    return vectored(read, fd, buffers, position);
}

function writev(fd, buffers, position) {
    return vectored(write, fd, buffers, position);
}

module.exports = {
    ...errors, constants, abortError, check, toFd, toFlags, toOptions, encode, encodeName, isView,
    bytesOfView, toBytes, Stats, Dirent, StatFs, listDirectory, joinPath, CHUNK_BYTES, cpAsync,
    realpathNative,
    operations: {
        __proto__: null, access, appendFile, chmod, chown, close, copyFile, cp, fchmod, fdatasync,
        fstat, fsync, ftruncate, futimes, link, lstat, lutimes, mkdir, mkdtemp, open, read, readFile,
        readdir, readlink, readv, realpath, rename, rm, rmdir, stat, statfs, symlink, truncate,
        unlink, utimes, write, writeFile, writev, exists,
    },
};
