// playground.mjs - the playground as somebody uses it: a real `vial serve` on loopback, a real Chromium.
//
// Usage: node tests/web/playground.mjs [PART OF A NAME]. VIAL_BUILD is the build directory (build), VIAL_SHOTS a
// directory for screenshots. The last line is "N passed, N failed, N skipped".
import { readFileSync } from "node:fs";
import { findChromium, launch, runAll, Server } from "./harness.mjs";
import "./test_running.mjs";
import "./test_calls.mjs";
import "./test_sessions.mjs";
import "./test_hostile.mjs";
import "./test_key.mjs";
import "./test_looks.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const LAPTOP = { viewport: { width: 1360, height: 850 } };

let chromium = null, why = null;
try {
  ({ chromium } = await import("playwright-core"));
} catch {
  why = "playwright-core is not there: npm ci --ignore-scripts fetches it";
}
const path = findChromium();
if (path === null) {
  why = "there is no Chromium: tools/setup test could not install one";
}
if (why !== null) {
  console.log(`skipped: ${why}`);
  console.log("0 passed, 0 failed, 1 skipped");
  process.exit(process.env.VIAL_MUST_WORK === "1" ? 1 : 0);
}

const server = await Server.start("--insecure-local");
const browser = await launch(chromium, path);

// What a test has: a page, and what went wrong in it.
const world = {
  server, browser,
  async open({ url = server.url, scheme = "light", isPhone = false, context = null } = {}) {
    const own = context ?? await browser.newContext({ ...(isPhone ? PHONE : LAPTOP), colorScheme: scheme });
    const page = await own.newPage();
    world.page = page;
    world.context = own;
    world.faults = [];
    world.requests = [];
    page.setDefaultTimeout(15_000);
    page.on("pageerror", error => world.faults.push(error.message));
    page.on("console", message => {
      if (message.type() === "error") {
        world.faults.push(message.text());
      }
    });
    page.on("dialog", dialog => {
      world.faults.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("response", response => {
      if (response.status() >= 400) {
        world.faults.push(`${response.status()} ${response.request().method()} ${response.url()}`);
      }
    });
    page.on("request", request => world.requests.push(request.url()));
    await page.goto(url);
    return page;
  },
  async close() {
    await world.context?.close();
    world.context = world.page = null;
  },
};

await server.ask("POST", "/v1/environments", JSON.parse(readFileSync(new URL("../../examples/environment.json", import.meta.url), "utf8")));
let counts;
try {
  counts = await runAll(world, process.argv[2]);
} finally {
  await browser.close();
  await server.stop();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
