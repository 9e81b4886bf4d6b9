/* stream_web.js - stream/web: the classes that are globals too. */
module.exports = { ...vial.load("web/streams") };
