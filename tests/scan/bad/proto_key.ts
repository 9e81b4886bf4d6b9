// expect: js-proto
function set(o: any, k: string, v: unknown): void { o[k] = v; }
const target: any = {};
target["__proto__"]["polluted"] = 1;
