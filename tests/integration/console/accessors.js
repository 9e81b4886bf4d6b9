/* Getters and setters are named, never run. */
let runs = 0;
const object = {
    get a() { runs++; return 1; }, set a(v) {}, get b() { runs++; return 2; }, set c(v) {},
};
console.log(object, [object], { nested: object });
console.log(Object.defineProperty([1], 1, { get() { runs++; }, enumerable: true }));
console.log("runs", runs);
