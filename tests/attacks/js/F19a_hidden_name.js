/* expect: status=ok value=["ENOENT","ENOENT","EROFS","ENOENT"] */
/* The attacker wants a file of the host by a name that nobody sees coming. */
const fs = globalThis["req" + "uire"]("f" + "s");
[() => fs.readFileSync("/etc/passwd"), () => fs.readFileSync("/../../proc/self/mem"), () => fs.writeFileSync("/etc", ""),
    () => fs.symlinkSync("/proc/1/root", "out") ?? fs.readdirSync("out/etc")].map((f) => {
    try {
        return f();
    } catch (error) {
        return error.code;
    }
});
