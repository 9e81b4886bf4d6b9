/* path_win32.js - path.win32: paths of Windows, as text. */
import { checkString, invalidArgType } from "../lib/errors.js";

const isSlash = (character) => character === "\\" || character === "/";

/* A path is device ("C:" or "\\server\share"), whether it is absolute, and the rest. */
function split(path) {
    const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
    if (unc !== null) {
        const rest = path.slice(unc[0].length);
        return { device: `\\\\${unc[1]}\\${unc[2]}`, isAbsolute: true, rest, isUnc: true, raw: unc[0] };
    }
    const device = /^[A-Za-z]:/.exec(path)?.[0] ?? "";
    const rest = path.slice(device.length);
    return { device, isAbsolute: rest !== "" && isSlash(rest[0]), rest, isUnc: false, raw: device };
}

function normalizeParts(parts, isAbsolute) {
    const out = [];
    for (const part of parts) {
        if (part === "" || part === ".") {
            continue;
        }
        if (part !== "..") {
            out.push(part);
        } else if (out.length > 0 && out.at(-1) !== "..") {
            out.pop();
        } else if (!isAbsolute) {
            out.push("..");
        }
    }
    return out;
}

function normalize(path) {
    checkString(path, "path");
    if (path === "") {
        return ".";
    }
    const { device, isAbsolute, rest, isUnc } = split(path);
    let tail = normalizeParts(rest.split(/[\\/]+/), isAbsolute).join("\\");
    if (tail === "" && !isAbsolute) {
        tail = ".";
    }
    if (tail !== "" && isSlash(path.at(-1)) && tail !== "." || tail === "." && isSlash(path.at(-1))) {
        tail += "\\";
    }
    if (isUnc) {
        return `${device}\\${tail}`;
    }
    return isAbsolute ? `${device}\\${tail}` : `${device}${tail}`;
}

function join(...paths) {
    paths.forEach((path) => checkString(path, "path"));
    const given = paths.filter((path) => path !== "");
    if (given.length === 0) {
        return ".";
    }
    let joined = given.join("\\");
    /* Two slashes at the start name a server only when the first path has exactly two. */
    const first = /^[\\/]*/.exec(given[0])[0].length;
    if (first !== 2 || given[0].length === 2) {
        const slashes = /^[\\/]*/.exec(joined)[0].length;
        joined = slashes >= 2 ? `\\${joined.slice(slashes)}` : joined;
    }
    return normalize(joined);
}

function resolve(...paths) {
    let device = "";
    let tail = "";
    let isAbsolute = false;
    for (let i = paths.length - 1; i >= -1 && !(isAbsolute && device !== ""); i--) {
        const path = i >= 0 ? paths[i] : process.cwd();
        checkString(path, "path");
        if (path === "") {
            continue;
        }
        const piece = split(path);
        if (piece.device !== "" && device !== "" && piece.device.toLowerCase() !== device.toLowerCase()) {
            continue;
        }
        device = device === "" ? piece.device : device;
        if (!isAbsolute) {
            tail = `${piece.rest}\\${tail}`;
            isAbsolute = piece.isAbsolute;
        }
    }
    const parts = normalizeParts(tail.split(/[\\/]+/), isAbsolute).join("\\");
    return (isAbsolute ? `${device}\\${parts}` : `${device}${parts}`) || ".";
}

function isAbsolute(path) {
    checkString(path, "path");
    return /^[\\/]|^[A-Za-z]:[\\/]/.test(path);
}

function relative(from, to) {
    checkString(from, "from");
    checkString(to, "to");
    const source = resolve(from);
    const target = resolve(to);
    if (source.toLowerCase() === target.toLowerCase()) {
        return "";
    }
    const a = source.replace(/\\+$/, "").split("\\");
    const b = target.replace(/\\+$/, "").split("\\");
    let common = 0;
    while (common < a.length && common < b.length && a[common].toLowerCase() === b[common].toLowerCase()) {
        common++;
    }
    if (common === 0) {
        return target;
    }
    return [...Array(a.length - common).fill(".."), ...b.slice(common)].join("\\");
}

/* Root, and where the last component begins and ends. */
function locate(path) {
    const { raw, isAbsolute: isRooted, rest, isUnc } = split(path);
    const slash = isRooted && rest !== "" && isSlash(rest[0]) ? rest[0] : "";
    const root = raw + slash;
    let end = path.length;
    while (end > root.length && isSlash(path[end - 1])) {
        end--;
    }
    let start = end;
    while (start > root.length && !isSlash(path[start - 1])) {
        start--;
    }
    return { root, start, end, isUnc };
}

function dirname(path) {
    checkString(path, "path");
    const { root, start } = locate(path);
    if (start <= root.length) {
        return root === "" ? "." : root;
    }
    let end = start;
    while (end > root.length && isSlash(path[end - 1])) {
        end--;
    }
    return path.slice(0, end);
}

function basename(path, suffix = undefined) {
    checkString(path, "path");
    if (suffix !== undefined) {
        checkString(suffix, "suffix");
    }
    const device = /^[A-Za-z]:/.exec(path)?.[0] ?? "";
    const base = path.slice(device.length).replace(/[\\/]+$/, "").split(/[\\/]/).at(-1);
    return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length || undefined)
        : base;
}

function extname(path) {
    const base = basename(path);
    const dot = base.lastIndexOf(".");
    return dot <= 0 || base === ".." ? "" : base.slice(dot);
}

function format(object) {
    if (object === null || typeof object !== "object") {
        throw invalidArgType("pathObject", "Object", object);
    }
    const ext = object.ext ? `${object.ext[0] === "." ? "" : "."}${object.ext}` : "";
    const base = object.base || `${object.name || ""}${ext}`;
    const directory = object.dir || object.root;
    if (!directory) {
        return base;
    }
    return directory === object.root ? `${directory}${base}` : `${directory}\\${base}`;
}

function parse(path) {
    checkString(path, "path");
    const { root, start, end } = locate(path);
    const base = path.slice(start, end);
    const dot = base.lastIndexOf(".");
    const ext = dot <= 0 || base === ".." ? "" : base.slice(dot);
    const dir = start <= root.length ? root : path.slice(0, start - 1);
    return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
}

function toNamespacedPath(path) {
    if (typeof path !== "string" || path === "") {
        return path;
    }
    const full = resolve(path);
    if (/^[A-Za-z]:\\/.test(full)) {
        return `\\\\?\\${full}`;
    }
    return /^\\\\[^?.\\]/.test(full) ? `\\\\?\\UNC\\${full.slice(2)}` : path;
}

const win32 = {
    resolve, normalize, isAbsolute, join, relative, toNamespacedPath, dirname, basename, extname, format, parse,
    sep: "\\", delimiter: ";", _makeLong: toNamespacedPath,
};
win32.win32 = win32;
Object.defineProperty(win32, "posix", { get: () => vial.require("path"), enumerable: true, configurable: true });
module.exports = win32;
