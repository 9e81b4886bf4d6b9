/* expect: status=ok value=true limits: wall_ms=4000 */
/* The attacker wants the engine's libraries to open files for a language or a zone of time. */
const zones = ["Europe/Berlin", "../../etc/passwd", "/etc/localtime", "UTC\0"];
let answered = 0;
for (const timeZone of zones) {
    try {
        new Intl.DateTimeFormat("xx-unknown", { timeZone, dateStyle: "full" }).format(0);
        answered++;
    } catch {
        answered++;
    }
}
answered === zones.length;
