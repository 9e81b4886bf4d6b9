// Colours for a terminal.
const red = (s) => `\x1b[31m${s}\x1b[0m`;
const green = (s) => "\x1b[32m" + s + "\x1b[0m";
[red("failed"), green("passed")].map((s) => s.length);
