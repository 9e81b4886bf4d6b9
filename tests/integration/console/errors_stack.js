/* Errors with their stack, cause, and further properties.
 *
 * Differs from Node 20: only the program's own frames are shown, and the engine reports columns of
 * its own: at the parenthesis of a call. */
function fail(text, options) {
    return new Error(text, options);
}
class ValidationError extends Error {
    constructor(text, field) {
        super(text);
        this.name = "ValidationError";
        this.field = field;
    }
}
class Unnamed extends Error {}
console.log(fail("plain"));
console.log([new ValidationError("bad", "age")]);
console.log(new Unnamed("what"));
console.log(fail("outer", { cause: fail("inner") }));
console.log(new AggregateError([fail("one"), 2], "several"));
console.log(Object.assign(new TypeError("coded"), { code: "E1" }));
console.log("%s", fail("as text"));
console.trace("here");
