/* net.js - fetch, for runs that may use the network.
 *
 * The host makes the request and judges it; here it is put into words, and its answer into a
 * Response. A short body comes with the head; of a long one the next piece is asked for while there
 * is room for it, so that who reads it late does not hold up other requests. */
import { UTF8, bytesOf, encode } from "../lib/encodings.js";
import { answered } from "./fetch.js";

const OPEN = 0;
const READ = 1;
const CLOSE = 2;
const SEND = 3;
const FLAG_END = 1;
const FLAG_STREAMED = 2;
const PIECE_BYTES = 256 * 1024; /* of a body, in one call */
const NULL_BODY = [101, 103, 204, 205, 304];
const PLAIN_URL = /^https?:\/\/[a-z0-9.-]+(?::[1-9][0-9]{0,4})?\/[A-Za-z0-9\-._~!$&()*+,;=:@/?%]*$/;
const PLAIN_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const AHEAD_BYTES = 8 * 1024 * 1024; /* of a body, that are kept until somebody reads them */

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
            const { 0: flags, 2: body } = signal === undefined ? await promise
                : await withSignal(promise, signal, close);
            if (body.length > 0) {
                controller.enqueue(body);
            }
            if ((flags & FLAG_END) !== 0) {
                controller.close();
            }
        },
        cancel() {
            close();
        },
    }, { highWaterMark: AHEAD_BYTES, size: (piece) => piece.byteLength });
}

/* The parts of an answer are [flags, head, body]: see cell/js/tools.c. */
function makeResponse({ 0: flags, 1: head, 2: body }, stream, signal) {
    const isEnd = (flags & FLAG_END) !== 0;
    if (NULL_BODY.includes(head.status) || (body.length === 0 && isEnd)) {
        return answered(head, undefined, null);
    }
    return isEnd ? answered(head, body, null) : answered(head, undefined, bodyStream(body, stream, signal));
}

function simpleResponse(reply, id) {
    return makeResponse(reply, id, undefined);
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

/* A body that is a stream is sent as it comes; others are sent as a whole. */
async function anyRequest(input, init) {
    const request = new Request(input, init ?? {});
    request.signal.throwIfAborted();
    const stream = request._stream;
    return {
        url: request.url, method: request.method.toUpperCase(), headers: [...request.headers],
        redirect: request.redirect, signal: request.signal, stream,
        body: stream !== null || request.body === null ? undefined : await request.bytes(),
    };
}

/* Sends what a stream gives, one piece after the other, as the host has room for it. What is thrown
 * is the stream's own. */
async function sendAll(stream, id) {
    const reader = stream.getReader();
    for (;;) {
        const { done, value } = await reader.read();
        const bytes = done ? undefined : bytesOf(value);
        if (!done && bytes === undefined) {
            const error = new TypeError("Received non-Uint8Array chunk");
            reader.cancel(error).catch(() => {});
            throw error;
        }
        for (let at = 0; done || at < bytes.length; at += PIECE_BYTES) {
            const piece = done ? undefined : bytes.subarray(at, at + PIECE_BYTES);
            const { 0: flags } = await vial.net(SEND, id, "", piece, undefined, done ? FLAG_END : 0).promise;
            if (done) {
                return;
            }
            if ((flags & FLAG_END) !== 0) { /* the answer is there, or there will be none */
                reader.cancel().catch(() => {});
                return;
            }
        }
    }
}

/* The answer to a request whose body is a stream, or what went wrong with the stream. */
function whileSending(promise, stream, id) {
    return new Promise((resolve, reject) => {
        promise.then(resolve, reject);
        sendAll(stream, id).catch((error) => {
            reject(error);
            vial.net(CLOSE, id, "", undefined);
        });
    });
}

async function fetchAny(input, init) {
    const { url, method, headers, redirect, signal, body, stream = null } = plainRequest(input, init) ??
        await anyRequest(input, init);
    signal?.throwIfAborted();
    const { id, promise } = vial.net(OPEN, 0, JSON.stringify({ url, method, headers, redirect }), body, undefined,
        stream === null ? 0 : FLAG_STREAMED);
    const answer = stream === null ? promise : whileSending(promise, stream, id);
    const reply = signal === undefined ? await answer
        : await withSignal(answer, signal, () => vial.net(CLOSE, id, "", undefined));
    return makeResponse(reply, id, signal);
}

/* Most of all a program asks for a URL and nothing else; such a URL needs no escapes either. */
export function fetch(input, init = undefined) {
    if (init === undefined && typeof input === "string" && PLAIN_URL.test(input)) {
        return vial.net(OPEN, 0, `{"url":"${input}","method":"GET"}`, undefined, simpleResponse).promise;
    }
    return fetchAny(input, init);
}
