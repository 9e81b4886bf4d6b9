/* expect: status=ok value={"a":1,"b":[2]} */
/* The attacker wants every value that crosses to the host to be one of its own, by a toJSON on all objects. */
Object.prototype.toJSON = () => "owned";
Array.prototype.toJSON = () => "owned";
String.prototype.toJSON = () => "owned";
Number.prototype.toJSON = () => "owned";
({ a: 1, b: [2] });
