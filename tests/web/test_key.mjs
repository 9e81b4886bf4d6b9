// test_key.mjs - the key: asked for once, kept in its tab only, and a refusal says what to do.
import { check, same, Server, test } from "./harness.mjs";
import { run, textOf } from "./steps.mjs";

test("without a key nothing is shown, and the page says how to get one", async world => {
  const server = await Server.start();
  try {
    const made = await server.ask("POST", "/v1/keys", { scopes: ["run", "session"] });
    const token = made.token ?? made.key ?? made.secret;
    const page = await world.open({ url: server.url });
    await page.locator("#key-dialog[open]").waitFor();
    check((await page.innerText("#key-dialog")).includes("vial key create"), "what to do");
    await page.fill("#key-text", "vial_wrong_key");
    await page.click("#key-form button[type=submit]");
    await page.locator("#key-why", { hasText: "not a valid key" }).waitFor();
    same(await page.evaluate(() => sessionStorage.getItem("vial.key")), null, "a wrong key is not kept");
    await page.fill("#key-text", token);
    await page.click("#key-form button[type=submit]");
    await page.locator("#key-dialog").waitFor({ state: "hidden" });
    await run(page, "6 * 7", "ok");
    check((await textOf(page, "value")).includes("42"), "it runs with the key");

    same(await page.evaluate(() => sessionStorage.getItem("vial.key")), token, "it is kept for this tab");
    same(await page.evaluate(key => JSON.stringify({ ...localStorage }).includes(key) || document.cookie.includes(key) || location.href.includes(key), token), false, "and nowhere else");
    check(!(await page.evaluate(() => document.documentElement.outerHTML)).includes(token), "it does not stand in the page");
    await page.reload();
    await page.waitForTimeout(500);
    check(await page.locator("#key-dialog").isHidden(), "a reload does not ask again");

    const other = await world.context.newPage();
    await other.goto(server.url);
    await other.locator("#key-dialog[open]").waitFor();
    await other.close();

    await server.ask("DELETE", `/v1/keys/${made.id}`);
    await page.click("#run");
    await page.locator("#key-why", { hasText: "revoked" }).waitFor();
    same(await page.evaluate(() => sessionStorage.getItem("vial.key")), null, "a revoked key is forgotten");
  } finally {
    await server.stop();
  }
});

test("a key without the scope is told which one is missing", async world => {
  const server = await Server.start();
  try {
    const made = await server.ask("POST", "/v1/keys", { scopes: ["run"] });
    const page = await world.open({ url: server.url });
    await page.fill("#key-text", made.token ?? made.key ?? made.secret);
    await page.click("#key-form button[type=submit]");
    await page.locator("#key-dialog").waitFor({ state: "hidden" });
    await page.click("#tab-sessions");
    await page.click("#session-new");
    await page.locator(".note", { hasText: "scope session" }).waitFor();
    await run(page, "1", "ok");
  } finally {
    await server.stop();
  }
});
