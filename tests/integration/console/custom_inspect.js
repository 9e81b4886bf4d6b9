/* An object may decide how it is shown. */
const custom = Symbol.for("nodejs.util.inspect.custom");
class Money {
    constructor(amount) { this.amount = amount; }
    [custom](depth, options, inspect) { return `Money<${inspect(this.amount)}>`; }
}
console.log(new Money(5), [new Money("x")], { a: { b: new Money({ c: 1 }) } });
console.log({ [custom]() { return { shown: "instead" }; } });
console.log({ x: 1, [custom]() { return this; } }.x);
console.log({ nested: { [custom]() { return "line one\nline two"; } } });
console.log({ a: { b: { [custom](depth) { return `depth ${depth}`; } } } });
console.log([{ [custom]() { return 5; } }, { [custom]: "not a function" }]);
