/* Objects are named after their class. */
class Animal {
    #secret = 1;
    constructor(name) { this.name = name; }
    get loud() { return this.name; }
}
class Dog extends Animal {}
console.log(new Animal("a"), new Dog("d"), [new Dog("e")]);
console.log(new (class {})(), new (class { x = 1; })());
function Old() { this.a = 1; }
console.log(new Old(), Object.create(Old.prototype), Old.prototype, Animal.prototype);
console.log(Object.create({}), Object.create({ constructor: 5 }));
console.log(Object.create(Object.create(null)));
console.log(Object.create(null), Object.assign(Object.create(null), { a: 1 }));
console.log(Object.create(null, { [Symbol.toStringTag]: { value: "Q" } }));
console.log({ [Symbol.toStringTag]: "T" }, Object.create({ [Symbol.toStringTag]: "Inherited" }));
console.log(new (class Stack extends Array {})(3), new (class Pair extends Array {})(1, 2));
