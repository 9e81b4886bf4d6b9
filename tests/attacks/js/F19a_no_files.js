/* expect: status=exception message=this_run_has_no_files */
/* The attacker wants to open a file in a cell that has none, by a name that nobody sees coming. */
const fs = globalThis["req" + "uire"]("f" + "s");
fs.readFileSync("/etc/passwd");
