// test_running.mjs - programs run: values, output as it comes, errors, limits, cancelling, artifacts, history.
import { check, eventually, same, test } from "./harness.mjs";
import { pane, run, status, textOf } from "./steps.mjs";

test("a value is shown as a tree that opens and closes", async world => {
  const page = await world.open();
  await run(page, "console.log('hello'); ({ rows: [{ a: 1 }, { a: 2n }], when: new Date(0), many: Array.from({ length: 250 }, (_, i) => i) })", "ok");
  same((await textOf(page, "output")).includes("hello"), true, "the output");
  const value = pane(page, "value");
  check((await value.innerText()).includes("1970-01-01T00:00:00.000Z"), "a date is shown as one");
  const rows = value.locator("details", { hasText: "rows" }).locator("details").first();
  check(await rows.evaluate(node => node.open), "a short list is open");
  await rows.locator("summary").first().click();
  check(!await rows.evaluate(node => node.open), "it closes");
  const many = value.locator("summary", { hasText: "many: Array(250)" });
  await many.click();
  await eventually(async () => await many.locator("xpath=../ul/li").count() === 101, "a long list comes in portions");
  await many.locator("xpath=..").getByRole("button", { name: "150 more" }).click();
  await eventually(async () => await many.locator("xpath=../ul/li").count() === 201, "the next portion");
  same(world.faults, [], "faults of the page");
});

test("output is shown while the program runs", async world => {
  const page = await world.open();
  await page.fill("#source", "console.log('first'); await new Promise(done => setTimeout(done, 4000)); console.error('last')");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector(".log")?.textContent === "first\n");
  same(await page.textContent("#status"), "running", "the status meanwhile");
  await status(page, "ok");
  same(await page.locator(".log [data-stream=stderr]").innerText(), "last\n", "the error stream is marked");
});

test("an error names its line, and the line is marked", async world => {
  const page = await world.open();
  await run(page, "const a = 1;\n\nfunction f(x) { return x.y; }\nf(undefined);\n", "exception");
  check((await textOf(page, "error")).includes("TypeError"), "the name of the error");
  same(await page.locator(".fault-number").textContent(), "3", "the number that is marked");
  const mark = await page.locator(".mark").boundingBox(), number = await page.locator(".fault-number").boundingBox();
  check(Math.abs(mark.y + mark.height / 2 - (number.y + number.height / 2)) < 4, "the mark is beside its number");
  await pane(page, "error").getByRole("button", { name: /line 3/ }).click();
  await eventually(async () => (await page.textContent("#place")).startsWith("3:"), "the place can be gone to");
  await page.keyboard.type(" ");
  check(await page.locator(".mark").isHidden(), "a change takes the mark away");
});

test("a limit ends a program and says so", async world => {
  const page = await world.open();
  await page.click("[aria-controls=set-limits]");
  await page.fill("#limit-wall_ms_max", "200");
  await run(page, "while (true) {}", "wall limit");
  check((await textOf(page, "error")).includes("200 ms"), "the limit is named");
  same(await page.getAttribute("#status", "data-tone"), "warn", "the tone");
  check((await textOf(page, "usage")).includes("of 200 ms"), "usage beside the limit");
});

test("a limit that there is not is refused with its range", async world => {
  const page = await world.open();
  await page.click("[aria-controls=set-limits]");
  await page.fill("#limit-memory_bytes_max", "1");
  await page.click("#run");
  await pane(page, "error").waitFor();
  check(/memory_bytes_max|16777216/.test(await textOf(page, "error")), "what is wrong");
});

test("a program can be cancelled", async world => {
  const page = await world.open();
  await page.fill("#source", "console.log('begun'); await new Promise(done => setTimeout(done, 9000))");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector(".log")?.textContent === "begun\n");
  await page.click("#cancel");
  await status(page, "cancelled");
  await run(page, "40 + 2", "ok");
  check((await textOf(page, "value")).includes("42"), "the next one runs");
});

test("input is given as JSON, and what is none is refused here", async world => {
  const page = await world.open();
  await page.click("[aria-controls=set-input]");
  await page.fill("#input", "{ rows: }");
  await page.click("#run");
  check((await page.textContent("#input-fault")).length > 0, "the fault is said");
  await page.fill("#input", '{"rows": [1, 2, 3]}');
  await run(page, "input.rows.length", "ok");
  check((await textOf(page, "value")).includes("3"), "the input arrived");
});

test("TypeScript and Python run, in colours", async world => {
  const page = await world.open();
  await page.selectOption("#language", "typescript");
  await run(page, "interface A { n: number }\nconst a: A = { n: 2 };\na.n * 21", "ok");
  check((await textOf(page, "value")).includes("42"), "the value of TypeScript");
  same(await page.locator(".paint .t-keyword").first().textContent(), "interface", "a keyword");
  await page.selectOption("#language", "python");
  await run(page, "# sums\nprint('hi')\nsum(i * i for i in range(4))", "ok");
  check((await textOf(page, "value")).includes("14"), "the value of Python");
  same(await page.locator(".paint .t-comment").first().textContent(), "# sums", "a comment");
  same(await page.evaluate(() => document.querySelector(".paint").textContent), "# sums\nprint('hi')\nsum(i * i for i in range(4))\n", "the colours have the whole text");
});

test("images, tables, drawings and pages are shown", async world => {
  const page = await world.open();
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  await run(page, `display.png(Uint8Array.from(atob("${png}"), c => c.charCodeAt(0)), { name: "dot" });
display.table([{ month: "May", sum: 42 }], { name: "sums" });
display.svg('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20"><rect width="80" height="20" fill="red"/></svg>');
display({ "image/png": new Uint8Array([1, 2, 3]) });
display.json({ deep: [1] });`, "ok");
  const shown = pane(page, "artifacts");
  await page.waitForFunction(() => document.querySelector("img.shown")?.naturalWidth === 1);
  same(await shown.locator("img.shown").nth(1).evaluate(image => image.naturalWidth), 80, "the drawing");
  check((await shown.innerText()).includes("not an image"), "bytes that are no image are called so");
  const frame = page.frameLocator("iframe.frame");
  same(await frame.locator("td").allInnerTexts(), ["May", "42"], "the table");
  check((await shown.innerText()).includes("deep"), "JSON is a tree");
  await shown.locator("select").first().selectOption({ label: "text/plain" });
  check((await shown.locator("figure").nth(1).innerText()).includes("month"), "another form of the table");
  same(world.faults, [], "faults of the page");
});

test("runs of before are listed, and open with their program", async world => {
  const page = await world.open();
  await run(page, "const answer = 42;\nanswer", "ok");
  await run(page, "throw new Error('second')", "exception");
  await page.locator("#runs .item", { hasText: "const answer = 42;" }).first().click();
  await status(page, "ok");
  same(await page.inputValue("#source"), "const answer = 42;\nanswer", "the program");
  check((await textOf(page, "value")).includes("42"), "its result, from the server");
  await page.reload();
  await page.locator("#runs .item", { hasText: "const answer = 42;" }).first().waitFor();
  same(await page.inputValue("#source"), "const answer = 42;\nanswer", "a reload loses nothing");
  await page.getByRole("button", { name: "Forget" }).click();
  same(await page.evaluate(() => localStorage.getItem("vial.runs")), null, "the browser forgets on demand");
});

test("the keyboard indents, comments, leaves and runs", async world => {
  const page = await world.open();
  await page.fill("#source", "");
  await page.focus("#source");
  await page.keyboard.type("if (true) {");
  await page.keyboard.press("Enter");
  await page.keyboard.type("1");
  same(await page.inputValue("#source"), "if (true) {\n  1", "a line break indents");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+/");
  same((await page.inputValue("#source")).split("\n")[1].includes("//"), true, "a comment");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement.id !== "source"), "Escape and Tab leave the editor");
  await page.fill("#source", "6 * 7");
  await page.press("#source", "Control+Enter");
  await status(page, "ok");
});
