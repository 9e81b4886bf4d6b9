// expect: js-process
import { Worker } from "node:worker_threads";
new Worker("./w.js");
