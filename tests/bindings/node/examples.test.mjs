/* examples.test.mjs - the examples, and the programs of README.md and docs/node-binding.md, run as they are. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { root, runProgram } from "./helpers.mjs";
import { makeKey, startServer } from "./serve.mjs";

test("examples/node/agent.mjs", () => {
    const ended = runProgram(fs.readFileSync(path.join(root, "examples/node/agent.mjs"), "utf8"));
    assert.deepEqual([ended.status, ended.stdout], [0,
        "call crm.find\ncall crm.find\ncall crm.find\nstdout found 3\nok [ 'Grace', 'Alan' ]\n[ 1, 2, 3 ] [ 3, 1, 2 ]\n"], ended.stderr);
});

test("the programs of README.md and docs/node-binding.md", async () => {
    const text = ["README.md", "docs/node-binding.md"].map((name) => fs.readFileSync(path.join(root, name), "utf8")).join("\n");
    const programs = [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, program]) => program);
    assert.equal(programs.length >= 6, true);
    const server = await startServer([]);
    const env = { ...process.env, VIAL_ADDRESS: `http://${server.addresses[0]}`, VIAL_KEY: makeKey(server.data, "run", "session") };
    try {
        for (const program of programs) {
            const ended = runProgram(`import assert from "node:assert/strict";\n${program}`, { env });
            assert.equal(ended.status, 0, `${program}\n${ended.stderr}`);
        }
    } finally {
        await server.stop();
    }
});
