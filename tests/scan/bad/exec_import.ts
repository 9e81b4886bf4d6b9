// expect: js-process
import { spawn } from "node:child_process";
const child: unknown = spawn("sh", ["-c", "id"]);
export default child;
