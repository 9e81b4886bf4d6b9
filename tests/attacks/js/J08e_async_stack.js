/* expect: status=exception name=Error */
/* The attacker wants the frames below an async function to name the machinery that runs it. */
async function inner() {
    await null;
    throw new Error("from an async function");
}
await inner();
