/* Timer handles: clearing, numbers, ref and unref, refresh, intervals. */
const cleared = [setTimeout(() => console.log("no"), 1), setTimeout(() => console.log("no"), 1)];
clearTimeout(cleared[0]);
clearTimeout(+cleared[1]);
clearTimeout(undefined);
clearTimeout(null);
clearTimeout({});
clearImmediate(setImmediate(() => console.log("no")));
const loose = setTimeout(() => console.log("no"), 60000).unref();
console.log(loose.hasRef(), setTimeout(() => {}, 1).hasRef(), typeof +loose);
let ticks = 0;
const interval = setInterval(() => {
    console.log("tick", ++ticks);
    if (ticks === 3) {
        clearInterval(interval);
    }
}, 2);
let again = true;
const timer = setTimeout(function () {
    console.log("fired", this === timer);
    if (again) {
        again = false;
        timer.refresh();
    }
}, 30);
for (const wrong of [undefined, null, 5, "code", {}, [], Symbol("s")]) {
    try {
        setTimeout(wrong);
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
}
