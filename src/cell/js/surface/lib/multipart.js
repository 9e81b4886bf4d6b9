/* multipart.js - bodies of the type multipart/form-data: written from a FormData, and read. */
import { LATIN1, UTF8, decode, encode } from "./encodings.js";

function escapeName(name) {
    return name.replace(/\r\n|\r|\n/g, "%0D%0A").replace(/"/g, "%22");
}

export function formatMultipart(form) {
    const random = new Uint8Array(12);
    vial.native.random(random);
    const boundary = `----formdata-vial-${random.toHex()}`;
    const pieces = [];
    for (const [name, value] of form) {
        let head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
        if (typeof value === "string") {
            pieces.push(`${head}\r\n\r\n${value.replace(/\r\n|\r|\n/g, "\r\n")}\r\n`);
        } else {
            head += `; filename="${escapeName(value.name)}"\r\n`;
            pieces.push(`${head}Content-Type: ${value.type || "application/octet-stream"}\r\n\r\n`,
                value, "\r\n");
        }
    }
    pieces.push(`--${boundary}--\r\n`);
    return { blob: new Blob(pieces), type: `multipart/form-data; boundary=${boundary}` };
}

function parameter(header, name) {
    const match = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;]*))`, "i").exec(header);
    return match === null ? undefined : match[1] ?? match[2].trim();
}

function unescapeName(name) {
    return decode(UTF8, encode(LATIN1, name)).replace(/%0D%0A/gi, "\r\n").replace(/%22/g, '"');
}

/* The bytes are looked at as Latin-1 text, in which places and bytes correspond. */
export function parseMultipart(bytes, type) {
    const boundary = parameter(type, "boundary");
    const text = decode(LATIN1, bytes);
    const form = new FormData();
    const fail = () => {
        throw new TypeError("Failed to parse body as FormData.");
    };
    if (!boundary) {
        fail();
    }
    const sections = `\r\n${text}`.split(`\r\n--${boundary}`);
    if (sections.length < 2 || !sections.at(-1).startsWith("--")) {
        fail();
    }
    for (const section of sections.slice(1, -1)) {
        const gap = section.indexOf("\r\n\r\n");
        const head = gap < 0 ? "" : section.slice(0, gap);
        const disposition = /content-disposition:([^\r]*)/i.exec(head)?.[1];
        const name = disposition === undefined ? undefined : parameter(disposition, "name");
        if (name === undefined) {
            fail();
        }
        const content = encode(LATIN1, section.slice(gap + 4));
        const filename = parameter(disposition, "filename");
        if (filename === undefined) {
            form.append(unescapeName(name), decode(UTF8, content));
        } else {
            const contentType = /content-type:\s*([^\r]*)/i.exec(head)?.[1] ?? "text/plain";
            form.append(unescapeName(name),
                new File([content], unescapeName(filename), { type: contentType }));
        }
    }
    return form;
}
