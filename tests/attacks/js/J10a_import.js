/* expect: status=exception|ok limits: wall_ms=2000 */
/* The attacker wants code or data from a file, a device or the network by import. */
const results = [];
for (const name of ["file:///etc/passwd", "node:file:///etc/passwd", "/etc/passwd", "../../etc/passwd", "data:text/javascript,1",
    "http://127.0.0.1/", "%2e%2e/etc/passwd", "./attack.js", "", "\0"]) {
    try {
        await import(name);
        results.push(name);
    } catch (error) {
        /* refused, as it should be */
    }
}
if (results.length > 0) {
    while (true) {}
}
