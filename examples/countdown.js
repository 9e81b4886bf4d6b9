/* countdown.js - prints a line a time from an event loop, then gives a value. */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (const n of [3, 2, 1]) {
    console.log(n);
    await sleep(150);
}
console.log({ done: true, at: new Date(0), seen: new Set([1, 2, 3]) });
"lift-off";
