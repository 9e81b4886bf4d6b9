/* expect: status=ok value=true */
/* The attacker wants a clock fine enough to see a cache. */
let finest = Infinity;
for (let i = 0; i < 20000; i++) {
    const a = performance.now();
    let b = a;
    while (b === a) {
        b = performance.now();
    }
    finest = Math.min(finest, b - a);
    if (i > 50) {
        break;
    }
}
finest > 0.09 && Date.now() % 1 === 0;
