/* encoding.js - stands in for a part of @exodus/bytes that only loads tables of old encodings. */
export {};
