/* Errors without a stack, and what they carry along. */
const bare = (error) => { error.stack = undefined; return error; };
console.log(bare(new Error("message")), [bare(new TypeError("in array"))]);
console.log(bare(new Error("")));
console.log(Object.assign(Object.create(Error.prototype), { message: "no real error" }));
const own = new Error("own stack");
own.stack = "own text";
console.log(own);
own.stack = "Name: text\n    at somewhere";
console.log(own, { nested: own });
own.code = "E1";
console.log(own);
