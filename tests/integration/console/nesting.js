/* Objects below the third level are only named. */
console.log({ a: { b: { c: { d: 1 } } } });
console.log({ a: { b: { c: {} } } }, { a: { b: { c: [] } } }, { a: { b: { c: [1] } } });
console.log([[[[1]]]], [[[[]]]]);
class Point { constructor() { this.x = 1; } }
console.log({ a: { b: { c: new Point(), d: new Map([[1, 2]]), e: new Set(), f: () => 1 } } });
console.log({ a: { b: { c: Object.assign(Object.create(null), { x: 1 }) } } });
console.log({ a: { b: { c: new Date(0), d: /x/, e: new Uint8Array(2), f: class Q {} } } });
