/* Typed arrays, buffers and views. */
console.log(new Uint8Array(3), new Float64Array([1.5, -0, NaN]), new BigInt64Array([1n, -2n]));
console.log(new Uint8Array(0), new ArrayBuffer(0), new ArrayBuffer(4));
console.log(new Uint8Array(120).buffer);
console.log(new DataView(new ArrayBuffer(2), 1));
console.log(new Int16Array(150).map((_, i) => i * 3));
console.log({ buffer: new Uint8Array([1, 2, 255]).buffer });
console.log(Object.assign(new Uint8Array(2), { note: "x" }));
