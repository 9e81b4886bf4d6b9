/* expect: status=ok value={"a":1} */
/* The attacker wants property descriptors that the runtime makes to inherit a getter. */
Object.prototype.get = () => "owned";
Object.prototype.set = () => {};
Object.prototype.writable = false;
Object.prototype.configurable = false;
Object.prototype.value = "owned";
console.log("still here");
const answer = { a: 1 };
answer;
