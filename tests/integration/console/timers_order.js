/* The order of microtasks, immediates and timers. */
console.log("start");
setTimeout(() => console.log("timeout 300"), 300); // so much later that a busy machine has begun the next one in time
setTimeout((a, b) => {
    console.log("timeout 10", a, b);
    queueMicrotask(() => console.log("microtask of timeout 10"));
    setImmediate(() => console.log("immediate of timeout 10"));
}, 10, "x", "y");
setImmediate(() => {
    console.log("immediate 1");
    setImmediate(() => console.log("immediate 3"));
    Promise.resolve().then(() => console.log("promise of immediate 1"));
});
setImmediate(() => console.log("immediate 2"));
Promise.resolve().then(() => console.log("promise"));
queueMicrotask(() => console.log("microtask"));
(async () => { console.log("async"); await null; console.log("awaited"); })();
console.log("end");
