/* printf-like directives. */
console.log("%s|%s|%s|%s|%s", "a", 5, -0, 1n, Symbol("q"), "extra", { a: 1 });
console.log("%s %s %s %s", { a: { b: { c: 1 } } }, [1, [2, [3]]], null, undefined);
console.log("%s %s", class A {}, () => 1);
console.log("%s %s %s", { toString() { return "own"; } },
    new (class { toString() { return "class"; } })(), new Date(0));
console.log("%d %d %d %d %d", 5, "42", "x", 1n, {}, "%d");
console.log("%i %i %i %f %f", 42.9, "12px", 5n, "1.5e3z", Symbol("s"));
console.log("%j %j", { a: [1] }, "x");
const cycle = {};
cycle.cycle = cycle;
console.log("%j", cycle);
console.log("%O|%o", { a: { b: { c: { d: {} } } } }, [1, 2]);
console.log("%c styled %c", "color: red", "x", "y");
console.log("100%", 5, "%% done");
console.log("%% %s%%", 5);
console.log("%x %s", 1);
console.log("%s%s", 1);
console.log("%s");
console.log("%");
console.log("a%", 1);
console.log(5, "%s", 6);
console.log("%d", -0);
console.log("%s", "a\nb", ["x"]);
console.log("%s", Object.create(null));
