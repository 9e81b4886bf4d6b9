/* References back to an enclosing object. */
const self = { n: 1 };
self.self = self;
console.log(self);
const tree = { name: "root", children: [] };
tree.children.push({ name: "leaf", parent: tree });
console.log(tree);
const a = {}, b = { a };
a.b = b;
a.inner = { b };
console.log([a, b]);
const map = new Map();
map.set("me", map).set(map, 1);
console.log(map);
const list = [1];
list.push(list);
console.log(list, { twice: [list, list] });
const shared = { s: 1 };
console.log({ one: shared, two: shared });
