// Lines out of pieces that end anywhere.
import { Readable } from "node:stream";
async function* lines(stream) {
  let rest = "";
  for await (const piece of stream) {
    rest += piece;
    let end;
    while ((end = rest.indexOf("\n")) >= 0) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 1);
    }
  }
  if (rest) yield rest;
}
const found = [];
for await (const line of lines(Readable.from(["a\nb", "c\n", "d"]))) found.push(line);
export default found;
