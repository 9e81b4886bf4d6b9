/* fs_later.js - how the asynchronous forms of node:fs are asynchronous: the work is done in a task of
 * its own, so that callbacks come when the caller has finished, in the order of the calls. */
"use strict";

const { argumentType } = require("./fs_errors.js");

function requireCallback(callback) {
    if (typeof callback !== "function") {
        throw argumentType("cb", "of type function", callback);
    }
    return callback;
}

/* Calls back with what fn returns, or with what it throws. */
function callLater(callback, fn) {
    setImmediate(() => {
        let result;
        try {
            result = fn();
        } catch (error) {
            callback(error);
            return;
        }
        if (result === undefined) {
            callback(null);
        } else {
            callback(null, result);
        }
    });
}

function promiseLater(fn) {
    return new Promise((resolve, reject) => {
        setImmediate(() => {
            try {
                resolve(fn());
            } catch (error) {
                reject(error);
            }
        });
    });
}

module.exports = { requireCallback, callLater, promiseLater };
