/* net.js - fetch, for runs that may use the network.
 *
 * The host makes the request and judges it; here it is put into words, and its answer into a
 * Response. A short body comes with the head; of a long one the next piece is asked for while there
 * is room for it, so that who reads it late does not hold up other requests. */
import { UTF8, decode, encode } from "../lib/encodings.js";

const OPEN = 0;
const READ = 1;
const CLOSE = 2;
const FLAG_END = 1;
const NULL_BODY = [101, 103, 204, 205, 304];
const PLAIN_URL = /^https?:\/\/[a-z0-9.-]+(?::[1-9][0-9]{0,4})?\/[A-Za-z0-9\-._~!$&()*+,;=:@/?%]*$/;
const PLAIN_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const AHEAD_BYTES = 8 * 1024 * 1024; /* of a body, that are kept until somebody reads them */

/* The parts of an answer: see wire/fetch.h. */
function parseReply(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const headLength = view.getUint32(0, true);
    const isEnd = (view.getUint32(4, true) & FLAG_END) !== 0;
    return {
        head: headLength > 0 ? JSON.parse(decode(UTF8, bytes.subarray(8, 8 + headLength))) : undefined,
        body: bytes.subarray(8 + headLength),
        isEnd,
    };
}

/* The answer to a call, or the reason of the signal when that comes before. */
function withSignal(promise, signal, close) {
    return new Promise((resolve, reject) => {
        const onAbort = () => {
            close();
            reject(signal.reason);
        };
        const settle = (how) => (value) => {
            signal.removeEventListener("abort", onAbort);
            how(value);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        promise.then(settle(resolve), settle(reject));
    });
}

function bodyStream(first, stream, signal) {
    const close = () => vial.net(CLOSE, stream, "", undefined);
    return new ReadableStream({
        start(controller) {
            if (first.length > 0) {
                controller.enqueue(first);
            }
        },
        async pull(controller) {
            signal?.throwIfAborted();
            const { promise } = vial.net(READ, stream, "", undefined);
            const { body, isEnd } = parseReply(signal === undefined ? await promise
                : await withSignal(promise, signal, close));
            if (body.length > 0) {
                controller.enqueue(body);
            }
            if (isEnd) {
                controller.close();
            }
        },
        cancel() {
            close();
        },
    }, { highWaterMark: AHEAD_BYTES, size: (piece) => piece.byteLength });
}

function makeResponse({ head, body, isEnd }, stream, signal) {
    const headers = new Headers();
    for (const [name, value] of head.headers) {
        try {
            headers.append(name, value);
        } catch {
            continue; /* a server may call a header anything */
        }
    }
    const hasBody = !NULL_BODY.includes(head.status) && (body.length > 0 || !isEnd);
    const response = new Response(hasBody ? isEnd ? body : bodyStream(body, stream, signal) : null, { headers });
    Object.assign(response._state, {
        status: head.status, statusText: head.reason, type: "basic", url: head.url,
        redirected: head.redirected,
    });
    return response;
}

/* What nearly all programs ask for needs no Request: a URL that every reader reads alike, and a body
 * that is text. undefined when it is more than that. */
function plainRequest(input, init) {
    const { method = "GET", headers, body = null, redirect = "follow", signal = null } = init ?? {};
    if (typeof input !== "string" || !PLAIN_URL.test(input) || !PLAIN_METHODS.includes(method) ||
        (body !== null && (typeof body !== "string" || method === "GET"))) {
        return undefined;
    }
    const pairs = headers === undefined ? [] : [...new Headers(headers)];
    if (body !== null && !pairs.some(([name]) => name === "content-type")) {
        pairs.push(["content-type", "text/plain;charset=UTF-8"]);
    }
    return {
        url: input, method, headers: pairs, redirect, signal: signal ?? undefined,
        body: body === null ? undefined : encode(UTF8, body.toWellFormed()),
    };
}

async function anyRequest(input, init) {
    const request = new Request(input, init ?? {});
    request.signal.throwIfAborted();
    return {
        url: request.url, method: request.method.toUpperCase(), headers: [...request.headers],
        redirect: request.redirect, signal: request.signal,
        body: request.body === null ? undefined : await request.bytes(),
    };
}

export async function fetch(input, init = undefined) {
    const { url, method, headers, redirect, signal, body } = plainRequest(input, init) ??
        await anyRequest(input, init);
    signal?.throwIfAborted();
    const { id, promise } = vial.net(OPEN, 0, JSON.stringify({ url, method, headers, redirect }), body);
    const reply = signal === undefined ? await promise
        : await withSignal(promise, signal, () => vial.net(CLOSE, id, "", undefined));
    return makeResponse(parseReply(reply), id, signal);
}
