// Reads arithmetic and evaluates it with a small parser.
function evaluate(source) {
  const tokens = source.match(/\d+(?:\.\d+)?|[-+*/()]/g);
  let at = 0;
  const atom = () => {
    if (tokens[at] === "(") { at++; const v = sum(); at++; return v; }
    return Number(tokens[at++]);
  };
  const product = () => {
    let v = atom();
    while (tokens[at] === "*" || tokens[at] === "/") v = tokens[at++] === "*" ? v * atom() : v / atom();
    return v;
  };
  const sum = () => {
    let v = product();
    while (tokens[at] === "+" || tokens[at] === "-") v = tokens[at++] === "+" ? v + product() : v - product();
    return v;
  };
  return sum();
}
evaluate("2*(3+4)-10/5");
