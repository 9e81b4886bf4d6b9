/* fs_errors.js - errors as Node's file functions make them, and the checks that lead to them. */
"use strict";

/* `vial` is a parameter of the function that a bundled text is. */
const { files } = vial.native;

/* Numbers, names and texts of errors, as Linux and Node have them. */
const ERRORS = {
    __proto__: null,
    1: ["EPERM", "operation not permitted"],
    2: ["ENOENT", "no such file or directory"],
    5: ["EIO", "i/o error"],
    9: ["EBADF", "bad file descriptor"],
    11: ["EAGAIN", "resource temporarily unavailable"],
    12: ["ENOMEM", "not enough memory"],
    13: ["EACCES", "permission denied"],
    16: ["EBUSY", "resource busy or locked"],
    17: ["EEXIST", "file already exists"],
    18: ["EXDEV", "cross-device link not permitted"],
    20: ["ENOTDIR", "not a directory"],
    21: ["EISDIR", "illegal operation on a directory"],
    22: ["EINVAL", "invalid argument"],
    23: ["ENFILE", "file table overflow"],
    24: ["EMFILE", "too many open files"],
    26: ["ETXTBSY", "text file is busy"],
    27: ["EFBIG", "file too large"],
    28: ["ENOSPC", "no space left on device"],
    29: ["ESPIPE", "invalid seek"],
    30: ["EROFS", "read-only file system"],
    31: ["EMLINK", "too many links"],
    32: ["EPIPE", "broken pipe"],
    36: ["ENAMETOOLONG", "name too long"],
    38: ["ENOSYS", "function not implemented"],
    39: ["ENOTEMPTY", "directory not empty"],
    40: ["ELOOP", "too many symbolic links encountered"],
    75: ["EOVERFLOW", "value too large for defined data type"],
    95: ["ENOTSUP", "operation not supported on socket"],
};

function receivedText(value) {
    if (value === undefined || value === null) {
        return `${value}`;
    }
    if (typeof value === "function") {
        return `function ${value.name}`;
    }
    if (typeof value === "object") {
        const name = value.constructor?.name;
        return name ? `an instance of ${name}` : "[Object: null prototype] {}";
    }
    let text = typeof value === "string" ? quoted(value) : String(value);
    if (text.length > 28) {
        text = `${text.slice(0, 25)}...${typeof value === "string" ? "'" : ""}`;
    }
    return `type ${typeof value} (${typeof value === "bigint" ? `${text}n` : text})`;
}

function quoted(text) {
    const escaped = text.replace(/[\\'\x00-\x1f]/g, (c) => (c === "'" || c === "\\" ? `\\${c}`
        : c === "\n" ? "\\n" : c === "\t" ? "\\t" : c === "\r" ? "\\r"
            : `\\x${c.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`));
    return `'${escaped}'`;
}

function withCode(error, code) {
    error.code = code;
    return error;
}

function argumentType(name, expected, value) {
    return withCode(new TypeError(`The "${name}" argument must be ${expected}. Received ` +
        receivedText(value)), "ERR_INVALID_ARG_TYPE");
}

function argumentValue(name, value, reason = "is invalid") {
    const shown = typeof value === "string" ? quoted(value) : String(value);
    return withCode(new TypeError(`The argument '${name}' ${reason}. Received ${shown}`),
        "ERR_INVALID_ARG_VALUE");
}

function outOfRange(name, range, value) {
    return withCode(new RangeError(`The value of "${name}" is out of range. It must be ${range}. ` +
        `Received ${typeof value === "bigint" ? `${value}n` : String(value)}`), "ERR_OUT_OF_RANGE");
}

function noFiles() {
    return withCode(new Error("this run has no files; --files (in the API: files_mode = " +
        "VIAL_FILES_ON) gives it a private directory"), "ERR_VIAL_NO_FILES");
}

/* An error as a failed system call makes it. */
function systemError(errno, syscall, path, dest) {
    if (errno === -1 && !files.available()) {
        return noFiles();
    }
    const [code, text] = ERRORS[-errno] ?? [`E${-errno}`, "unknown error"];
    const rule = code === "EACCES" ? files.deniedBy() : undefined;
    let message = `${code}: ${text}${rule === undefined ? "" : ` by ${rule}`}, ${syscall}`;
    if (path !== undefined) {
        message += ` '${path}'`;
    }
    if (dest !== undefined) {
        message += ` -> '${dest}'`;
    }
    const error = new Error(message);
    error.errno = errno;
    error.code = code;
    error.syscall = syscall;
    if (rule !== undefined) {
        error.rule = rule;
    }
    if (path !== undefined) {
        error.path = path;
    }
    if (dest !== undefined) {
        error.dest = dest;
    }
    return error;
}

/* An error of those that Node itself finds before or between system calls. */
function foundError(code, prefix, syscall, errno, errnoCode, text, path) {
    const error = new Error(`${prefix}: ${syscall} returned ${errnoCode} (${text}) ${path}`);
    Object.defineProperty(error, "name",
        { value: "SystemError", writable: true, enumerable: false, configurable: true });
    error.code = code;
    error.info = { code: errnoCode, message: text, path, syscall, errno };
    error.errno = errno;
    error.syscall = syscall;
    error.path = path;
    return error;
}

function pathOfUrl(url) {
    if (url.protocol !== "file:") {
        throw withCode(new TypeError("The URL must be of scheme file"), "ERR_INVALID_URL_SCHEME");
    }
    if (url.hostname !== "") {
        throw withCode(new TypeError('File URL host must be "localhost" or empty on linux'),
            "ERR_INVALID_FILE_URL_HOST");
    }
    if (/%2f/i.test(url.pathname)) {
        throw withCode(new TypeError("File URL path must not include encoded / characters"),
            "ERR_INVALID_FILE_URL_PATH");
    }
    return decodeURIComponent(url.pathname);
}

function toPath(value, name = "path") {
    let path = value;
    if (value instanceof Uint8Array) {
        path = require("buffer").Buffer.from(value).toString();
    } else if (typeof value === "object" && value !== null && typeof value.href === "string" &&
        typeof value.protocol === "string") {
        path = pathOfUrl(value);
    } else if (typeof value !== "string") {
        throw argumentType(name, "of type string or an instance of Buffer or URL", value);
    }
    if (path.includes("\0")) {
        throw argumentValue(name, path, "must be a string, Uint8Array, or URL without null bytes");
    }
    return path;
}

function toMode(mode, otherwise, name = "mode") {
    if (mode === undefined || mode === null) {
        if (otherwise === undefined) {
            throw argumentType(name, "of type number", mode);
        }
        return otherwise;
    }
    if (typeof mode === "string" && /^[0-7]+$/.test(mode)) {
        return parseInt(mode, 8);
    }
    if (typeof mode === "string") {
        throw argumentValue(name, mode, "must be a 32-bit unsigned integer or an octal string");
    }
    if (typeof mode !== "number") {
        throw argumentType(name, "of type number", mode);
    }
    if (!Number.isInteger(mode)) {
        throw outOfRange(name, "an integer", mode);
    }
    if (mode < 0 || mode > 4294967295) {
        throw outOfRange(name, ">= 0 && <= 4294967295", mode);
    }
    return mode;
}

/* The owner of every file and of the process: the real number says something about the host. */
const OWNER = 1000;

module.exports = {
    OWNER, argumentType, argumentValue, files, foundError, noFiles, outOfRange, receivedText, systemError, toMode,
    toPath, withCode,
};
