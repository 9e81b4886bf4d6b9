/* expect: status=ok value=["kept",true] */
/* The attacker wants to end timers that are not its own by guessing their numbers. */
let kept = "lost";
setTimeout(() => { kept = "kept"; }, 20);
for (let i = 0; i < 1000; i++) {
    clearTimeout(i);
    clearInterval(String(i));
}
await new Promise((done) => setTimeout(done, 40));
let refused = false;
try {
    new (setTimeout(() => {}, 0).constructor)({}, {});
} catch {
    refused = true;
}
[kept, refused];
