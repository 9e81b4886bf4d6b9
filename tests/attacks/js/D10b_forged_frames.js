/* expect: status=ok value="\u0007\u0000\u0000\u0000\u0007" */
/* The attacker wants text that it prints to be taken for a frame of the control socket. */
const frame = String.fromCharCode(7, 0, 0, 0, 7, 0, 0, 0, 16, 4, 0, 0, 0, 0, 0, 0, 0);
for (let i = 0; i < 100; i++) {
    console.log(frame);
    console.error(frame.repeat(10));
}
String.fromCharCode(7, 0, 0, 0, 7);
