/* expect: status=ok value=[] */
/* The attacker wants to learn about the host from an error's stack: paths, users, native frames. */
const stacks = [];
const grab = () => { stacks.push(String(new Error("x").stack)); };
setTimeout(grab, 0);
setImmediate(grab);
queueMicrotask(grab);
Promise.resolve().then(grab);
console.log({ get x() { grab(); return 1; }, [Symbol.for("nodejs.util.inspect.custom")]: grab });
await new Promise((done) => setTimeout(done, 20));
stacks.join("\n").split("\n").filter((line) => /\.c:|\.so|\/usr\/|\/home\/|\/lib/.test(line));
