// test_sessions.mjs - sessions: made, evaluated in, branched, chosen by a click, ended.
import { readFileSync } from "node:fs";
import { check, same, test } from "./harness.mjs";
import { run, status, textOf } from "./steps.mjs";

test("a session is evaluated in, branched, and each goes its own way", async world => {
  const page = await world.open();
  await page.click("#tab-sessions");
  await page.click("#session-new");
  await page.locator("#session-branch").waitFor();
  same(await page.textContent("#run-word"), "Evaluate", "the word on the button");
  const parent = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
  await run(page, "let n = 1; n", "ok");
  await page.locator("#sessions", { hasText: "1 evaluation" }).waitFor();

  await page.click("#session-branch");
  await page.waitForFunction(id => document.querySelector("[data-session][aria-current=true]")?.dataset.session !== id, parent);
  const child = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
  check(await page.evaluate(([a, b]) => document.querySelector(`[data-session="${a}"]`).closest("li").querySelector(`ul [data-session="${b}"]`) !== null, [parent, child]),
    "the branch hangs beneath what it was branched from");
  await run(page, "n += 10", "ok");
  check((await textOf(page, "value")).includes("11"), "the branch has the variable");

  await page.click(`[data-session="${parent}"]`);
  await run(page, "n", "ok");
  same((await textOf(page, "value")).replace(/\s+/g, " ").includes("11"), false, "the parent does not see it");

  await page.click("#session-end");
  await page.waitForFunction(id => document.querySelector(`[data-session="${id}"]`)?.disabled, parent);
  await page.click(`[data-session="${child}"]`);
  await run(page, "n", "ok");
  check((await textOf(page, "value")).includes("11"), "the branch lives on");

  await page.fill("#source", "while (true) {}");
  await page.click("[aria-controls=set-limits]");
  await page.fill("#limit-wall_ms_max", "300");
  await page.click("#run");
  await status(page, "wall limit");
  await run(page, "n + 1", "ok");
  check((await textOf(page, "value")).includes("12"), "and is still there after a limit");

  await page.click("#session-leave");
  same(await page.textContent("#run-word"), "Run", "out of the session");
  await run(page, "typeof n", "ok");
  check((await textOf(page, "value")).includes("undefined"), "a run has nothing of it");
  same(world.faults, [], "faults of the page");
});

test("a session in Python is branched, and keeps its language", async world => {
  const page = await world.open();
  await page.selectOption("#language", "python");
  await page.click("#tab-sessions");
  await page.click("#session-new");
  await page.locator("#session-branch").waitFor();
  const parent = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
  await run(page, "rows = [3, 1, 2]", "ok");
  await page.click("#session-branch");
  await page.waitForFunction(id => document.querySelector("[data-session][aria-current=true]")?.dataset.session !== id, parent);
  await run(page, "rows.sort()\nrows[0]", "ok");
  await page.click("#session-leave");
  await page.selectOption("#language", "javascript");
  await page.click(`[data-session="${parent}"]`);
  same(await page.inputValue("#language"), "python", "the language of the session");
  await run(page, "rows[0]", "ok");
  check((await textOf(page, "value")).includes("3"), "the parent has its own order");
});

test("a session has a name, and its files are listed and saved", async world => {
  const page = await world.open();
  await page.click("#tab-sessions");
  await page.fill("#session-name", "orders of May");
  await page.press("#session-name", "Enter");
  await page.locator("#session-branch").waitFor();
  const chosen = page.locator("[data-session][aria-current=true]");
  check((await chosen.textContent()).includes("orders of May"), "the tree has the name");
  check((await page.textContent("#inside")).includes("orders of May"), "so has the line above the program");
  same(await page.inputValue("#session-name"), "", "the field is empty for the next one");
  check((await page.textContent(".card")).includes("No files"), "there are no files yet");

  const odd = "a <b>'\\u202e#%?.csv"; // an escape that the program undoes
  await run(page, `const fs = require("fs"); fs.mkdirSync("out/deep", { recursive: true }); fs.writeFileSync("out/deep/${odd}", "x,y\\n1,2\\n"); fs.writeFileSync("b.bin", Buffer.from([0, 255])); 1`, "ok");
  await page.locator(".files summary", { hasText: "Files, 8.0 KiB" }).waitFor();
  await page.click(".files summary");
  await page.locator("#session-files [data-file]").nth(1).waitFor();
  same(await page.locator("#session-files [data-file]").allTextContents(), ["b.bin", "out/deep/a <b>'<U+202E>#%?.csv"], "the names, as they can be read");
  for (const [at, content] of [[0, Buffer.from([0, 255])], [1, Buffer.from("x,y\n1,2\n")]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#session-files [data-file]").nth(at).click()]);
    same([...readFileSync(await download.path())], [...content], "what was saved");
  }
  check((await chosen.textContent()).includes("1 evaluation"), "looking at files is not counted");

  await run(page, "fs.unlinkSync('b.bin'); 2", "ok"); // what is open follows
  await page.waitForFunction(() => document.querySelectorAll("#session-files [data-file]").length === 1);
  const parent = await chosen.getAttribute("data-session");
  await page.click("#session-branch");
  await page.waitForFunction(id => document.querySelector("[data-session][aria-current=true]")?.dataset.session !== id, parent);
  await page.waitForFunction(() => document.querySelectorAll("#session-files [data-file]").length === 1);
  check((await chosen.textContent()).includes("orders of May"), "a branch is called what its parent is");
  same(world.faults, [], "faults of the page");
});

test("a session that was made elsewhere tells its language", async world => {
  const made = await world.server.ask("POST", "/v1/sessions", { language: "python", name: "from outside" });
  const page = await world.open();
  same(await page.inputValue("#language"), "javascript", "the language before");
  await page.click("#tab-sessions");
  await page.click(`[data-session="${made.id}"]`);
  same(await page.inputValue("#language"), "python", "that of the session");
  await run(page, "len('abc')", "ok");
  await page.click("#session-end");
});

test("a session has its environment, and its calls are approved here", async world => {
  const page = await world.open();
  await page.locator("#environment option[value=orders]").waitFor({ state: "attached" });
  await page.selectOption("#environment", "orders");
  await page.click("#tab-sessions");
  await page.click("#session-new");
  await page.locator("#session-branch").waitFor();
  check(await page.isDisabled("#environment"), "the environment is the session's");
  await page.fill("#source", "await shop.refund({ id: orders[0].id })");
  await page.click("#run");
  await page.click("[data-answer=yes]");
  await status(page, "ok");
  check((await textOf(page, "value")).includes("paid"), "it was paid");
  await page.click("#session-end");
  await page.waitForFunction(() => !document.getElementById("environment").disabled);
  same(await page.inputValue("#environment"), "orders", "what was picked before");
});
