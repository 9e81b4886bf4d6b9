/* expect: status=ok value=true limits: wall_ms=2000 */
/* The attacker wants dates and numbers whose texts are endless. */
const texts = [new Date(8.64e15).toString(), (1e21).toFixed(20), (2 ** -1074).toPrecision(100),
    (-1e308).toLocaleString("de"), (123.456).toString(2)];
texts.every((text) => text.length < 2000);
