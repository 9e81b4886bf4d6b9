// Functions one behind the other, with an abort.
const pipe = (...fns) => (x) => fns.reduce((v, f) => f(v), x);
const controller = new AbortController();
const steps = pipe((s) => s.trim(), (s) => s.split(","), (l) => l.map(Number), (l) => Math.max(...l));
setTimeout(() => controller.abort(), 1);
steps(" 4,8,15,16,23,42 ");
