/* stream_promises.js - stream/promises. */
const { promises } = vial.require("stream");

module.exports = { finished: promises.finished, pipeline: promises.pipeline };
