// expect: js-host-path
import { readFileSync } from "node:fs";
export default readFileSync("/etc/passwd", "utf8");
