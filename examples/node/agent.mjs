/* agent.mjs - a program of a model with tools of ours, followed as it runs: node agent.mjs.
 *
 * In the build directory: cp examples/node/agent.mjs build/node/ && node build/node/agent.mjs */
import { Session, start, tool } from "vial";

// What a model wrote. It is never trusted: it runs in a fresh process behind the wall.
const program = `
const customers = await Promise.all([1, 2, 3].map((id) => crm.find({ id })));
console.log("found", customers.length);
customers.filter((c) => c.orders > 1).map((c) => c.name)`;

const find = tool({
    name: "crm.find",
    description: "Finds a customer by number.",
    input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
    execute: async ({ id }) => ({ name: ["Ada", "Grace", "Alan"][id - 1], orders: id }),
});

for await (const event of start(program, { tools: [find], timeout: 5000 })) {
    if (event.type === "result") {
        console.log(event.data.status, event.data.ok ? event.data.value : event.data.error.message);
    } else {
        console.log(event.type, event.type === "call" ? event.data.name : event.data.trim());
    }
}

// A session stays between programs, and can be branched alive.
const session = new Session();
await session.eval("var rows = [3, 1, 2]");
const branch = await session.branch();
console.log((await branch.eval("rows.sort()")).value, (await session.eval("rows")).value);
await Promise.all([session.close(), branch.close()]);
