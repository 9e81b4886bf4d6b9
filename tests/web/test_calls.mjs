// test_calls.mjs - environments with their tools, calls on their line of time, approvals and answers given here.
import { check, same, test } from "./harness.mjs";
import { pane, run, status, textOf } from "./steps.mjs";

test("an environment shows its tools and types, and its calls are drawn", async world => {
  const page = await world.open();
  await page.locator("#environment option[value=orders]").waitFor({ state: "attached" });
  await page.selectOption("#environment", "orders");
  await page.click("#tab-tools");
  await page.locator("#tools .tool").first().waitFor();
  same(await page.locator("#tools .tool .mono").allInnerTexts(), ["rates.get", "shop.refund"], "the tools");
  check((await page.locator("#tools").innerText()).includes("declare namespace rates"), "the types");
  check((await page.locator("#tools .chip").innerText()).includes("approval"), "which needs approval");
  same(await page.getAttribute("#limit-wall_ms_max", "placeholder"), "2000", "the limit that it gives by default");
  await run(page, "console.log(orders.length); await rates.get({ currency: 'USD' })", "ok");
  check((await textOf(page, "value")).includes("1.08"), "the value");
  const call = page.locator(".call");
  same(await call.count(), 1, "one call");
  const bar = await call.locator(".bar").boundingBox(), line = await call.locator(".bar-line").boundingBox();
  check(bar.width >= 1 && bar.x >= line.x - 1 && bar.x + bar.width <= line.x + line.width + 1, "the bar is on the line");
  await call.locator("summary").click();
  await call.getByText("USD").waitFor();
});

for (const answer of ["yes", "no"]) {
  test(`a call that waits for approval is answered with ${answer}`, async world => {
    const page = await world.open();
    await page.locator("#environment option[value=orders]").waitFor({ state: "attached" });
    await page.selectOption("#environment", "orders");
    await page.fill("#source", "await shop.refund({ id: 'A-1' })");
    await page.click("#run");
    await pane(page, "waiting").waitFor();
    check((await textOf(page, "waiting")).includes("A-1"), "what is asked for is shown");
    await page.click(`[data-answer=${answer}]`);
    await status(page, answer === "yes" ? "ok" : "exception");
    check((await textOf(page, answer === "yes" ? "value" : "error")).includes(answer === "yes" ? "paid" : "not approved"), "what came of it");
    check(await pane(page, "waiting").isHidden(), "nothing waits any more");
  });
}

test("tools of the page are answered in it", async world => {
  const page = await world.open();
  await page.click("[aria-controls=set-tools]");
  await page.fill("#own-tools", '[{"name": "crm.find", "description": "Finds."}]');
  await page.fill("#source", "const a = await crm.find({ id: 1 });\nlet b; try { await crm.find({ id: 2 }) } catch (e) { b = e.message }\n[a, b]");
  await page.click("#run");
  await page.locator(".ask textarea").fill("not json");
  await page.click("[data-answer=value]");
  check((await textOf(page, "waiting")).includes("not JSON"), "what is no JSON is not sent");
  await page.locator(".ask textarea").fill('{"name": "Ada"}');
  await page.click("[data-answer=value]");
  await page.locator(".ask", { hasText: "2" }).waitFor();
  await page.locator(".ask textarea").fill("nobody has this number");
  await page.click("[data-answer=error]");
  await status(page, "ok");
  const value = await textOf(page, "value");
  check(value.includes("Ada") && value.includes("nobody has this number"), "both answers arrived");
});
