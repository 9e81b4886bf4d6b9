// test_looks.mjs - a laptop and a phone, light and dark: nothing sticks out, everything can be read and named.
import { join } from "node:path";
import { check, same, test } from "./harness.mjs";
import { status } from "./steps.mjs";

const PROGRAM = `// Looks at the orders and pays one back.
const rows = orders.map(o => ({ ...o, price: euros(o.cents) }));
console.log("found", rows.length, "orders");
display.table(rows, { name: "orders" });
const rate = await rates.get({ currency });
console.error("rate is", rate);
({ rows, rate, refund: await shop.refund({ id: rows[0].id }) });
`;

// Runs in the page: texts whose contrast with what is behind them is below 4.5 to 1, of what can be seen.
function lowContrast() {
  const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return text.startsWith("color(srgb") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
  const light = ([r, g, b]) => { const f = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = node => { for (; node !== null; node = node.parentElement) { const c = parse(getComputedStyle(node).backgroundColor); if (c[3] === 1) { return c; } } return [255, 255, 255, 1]; };
  const low = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim() !== "");
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!own || box.width < 2 || box.height < 2 || style.visibility === "hidden" || node.closest(":disabled, option, textarea, [hidden], .away, .skip, .chip[data-tone=busy]")) {
      continue;
    }
    const a = light(parse(style.color)), b = light(behind(node)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) {
      low.push(`${node.tagName} ${node.className} "${node.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
    }
  }
  return low;
}

// Runs in the page: controls that nobody could name.
function nameless() {
  return [...document.querySelectorAll("button, select, input, textarea, a, iframe, img")].filter(node => node.getClientRects().length > 0 &&
    !(node.textContent.trim() || node.getAttribute("aria-label") || node.title || node.alt || node.labels?.length > 0)).map(node => node.outerHTML.slice(0, 80));
}

for (const [device, scheme] of [["laptop", "light"], ["laptop", "dark"], ["phone", "light"], ["phone", "dark"]]) {
  test(`it looks right on a ${device}, ${scheme}`, async world => {
    const isPhone = device === "phone", page = await world.open({ scheme, isPhone });
    const shot = async name => process.env.VIAL_SHOTS && page.screenshot({ path: join(process.env.VIAL_SHOTS, `${device}-${scheme}-${name}.png`) });
    const look = async name => {
      await shot(name);
      same(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight), true, `${name}: nothing sticks out`);
      same(await page.evaluate(lowContrast), [], `${name}: everything can be read`);
      same(await page.evaluate(nameless), [], `${name}: everything has a name`);
    };
    await page.locator("#environment option[value=orders]").waitFor({ state: "attached" });
    await page.selectOption("#environment", "orders");
    await page.fill("#source", PROGRAM);
    await look("code");
    await page.click("#run");
    await page.locator("[data-answer=yes]").waitFor();
    await look("approval");
    await page.click("[data-answer=yes]");
    await status(page, "ok");
    await page.waitForTimeout(300);
    await look("result");
    for (const name of ["sessions", "tools", "runs"]) {
      await page.click(isPhone ? `.below [data-goto=${name}]` : `#tab-${name}`);
      if (name === "sessions") {
        await page.fill("#session-name", "May, first try");
        await page.click("#session-new");
        await page.locator("#session-branch").waitFor();
        const id = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
        await world.server.ask("POST", `/v1/sessions/${id}/eval`, {
          code: `const fs = require("fs"); fs.mkdirSync("reports/2026", { recursive: true }); fs.writeFileSync("reports/2026/orders-of-may-by-customer-and-country.csv", "x".repeat(20000)); fs.writeFileSync("a.txt", "a")` });
        await page.click("#session-branch");
        await page.waitForFunction(() => document.querySelector(".branches ul [data-session]") !== null);
        await page.click(".files summary");
        await page.locator("#session-files [data-file]").first().waitFor();
      }
      if (name === "sessions") {
        check(await page.evaluate(() => {
          const item = document.querySelector("[data-session][aria-current=true]").getBoundingClientRect();
          const card = document.querySelector(".card").getBoundingClientRect();
          return item.bottom <= card.top && item.top >= document.querySelector(".hold").getBoundingClientRect().top - 1 && card.bottom <= innerHeight;
        }), "the chosen session is not covered by what is told of it");
      }
      await page.waitForTimeout(300);
      await look(name);
    }
    await page.click(isPhone ? ".below [data-goto=sessions]" : "#tab-sessions");
    await page.click("#session-end");
    await page.waitForFunction(() => document.getElementById("run-word").textContent === "Run");
    if (isPhone) {
      await page.click(".below [data-goto=code]");
    }
    await page.click("[aria-controls=set-limits]");
    await page.fill("#source", "function price(order) {\n  return order.cents / 100;\n}\n\nprice({ cents: 995 }) + price(undefined);\n");
    await page.click("#run");
    await status(page, "exception");
    await look("error");
    await page.click("#key");
    await look("key");
    check(world.faults.length === 0, world.faults.join("; "));
  });
}
