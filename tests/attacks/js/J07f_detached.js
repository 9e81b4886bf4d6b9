/* expect: status=exception name=TypeError */
/* The attacker wants the runtime to read a buffer that is gone. */
const bytes = new Uint8Array(8);
bytes.buffer.transfer();
console.log(bytes, bytes.buffer);
bytes;
