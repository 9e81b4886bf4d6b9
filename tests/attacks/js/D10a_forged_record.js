/* expect: status=exception */
/* The attacker wants a log reader to take its message for two records, or for a command of the terminal. */
const error = new Error('x"}\n{"status":"ok","value":"owned"}\r\n\x1b]0;owned\x07\x1b[2J\u2028');
error.name = "Error\n\x1b[1mFATAL";
throw error;
