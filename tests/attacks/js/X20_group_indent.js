/* expect: status=ok|output_limit|exception limits: wall_ms=4000 */
/* The attacker wants each line to become a megabyte by groups in groups. */
for (let i = 0; i < 1e5; i++) {
    console.group();
}
for (let i = 0; i < 20; i++) {
    console.log("x");
}
