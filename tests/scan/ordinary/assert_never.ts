// Checks at run time and before it.
function assertNever(x: never): never { throw new TypeError(`unexpected ${String(x)}`); }
type Level = "low" | "high";
function weight(level: Level): number {
  if (level === "low") return 1;
  if (level === "high") return 10;
  return assertNever(level);
}
(["low", "high"] satisfies Level[]).map(weight);
