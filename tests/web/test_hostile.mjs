// test_hostile.mjs - guests that attack the page: markup, terminal escapes, floods, and pages that they show. And
// the page's own policy, which would stop what slipped through.
import { createServer } from "node:net";
import { check, same, Server, test } from "./harness.mjs";
import { pane, run, textOf } from "./steps.mjs";

const MARKUP = "<img src=x onerror=\"window.broken=1\"><script>window.broken=1</script><svg onload=window.broken=1>";

test("markup is text wherever a guest can put text", async world => {
  const page = await world.open();
  await page.click("[aria-controls=set-tools]");
  await page.fill("#own-tools", JSON.stringify([{ name: "ask", description: MARKUP }]));
  await page.fill("#source", `const bad = ${JSON.stringify(MARKUP)};
console.log(bad); console.error(bad);
display(bad, { name: "<b>name" }); display.markdown(bad);
try { await ask({ [bad]: bad }) } catch (e) { console.log(e.message) }
({ [bad]: bad, list: [bad], map: new Map([[bad, bad]]), error: new Error(bad) })`);
  await page.click("#run");
  await page.locator(".ask textarea").waitFor();
  check((await textOf(page, "waiting")).includes("<img src=x"), "arguments are text");
  await page.locator(".ask textarea").fill(MARKUP);
  await page.click("[data-answer=error]");
  await page.waitForFunction(() => document.getElementById("status").textContent === "ok");
  check((await textOf(page, "output")).includes(MARKUP), "output is text");
  check((await textOf(page, "value")).includes("<img src=x onerror="), "the value is text");
  await run(page, `throw new Error(${JSON.stringify(MARKUP)})`, "exception");
  check((await textOf(page, "error")).includes("<img src=x onerror="), "errors are text");
  await page.locator("#runs .item").first().click();
  await page.waitForTimeout(300);
  same(await page.evaluate(() => [window.broken, document.querySelectorAll("main img:not(.shown), main script, [onerror], [onload]").length]), [undefined, 0], "nothing became markup");
  same(world.faults, [], "faults of the page");
});

test("terminal escapes, turned text and unseen characters are shown as what they are", async world => {
  const page = await world.open(), title = await page.title();
  await run(page, "process.stdout.write('\\x1b]0;owned\\x07\\x1b[31mred\\x1b[2J\\x1b]52;c;AAAA\\x07 \\u202egnp.exe\\u202c a\\u200bb \\0 \\x9b1m'); '\\x1b[8m\\u202e'", "ok");
  const text = await page.locator(".log").innerText();
  check(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e]/.test(text), `nothing that would act is left in ${JSON.stringify(text)}`);
  check(text.includes("^[]0;owned^G^[[31mred") && text.includes("<U+202E>gnp.exe"), "it can be seen");
  check(!/[\u001b\u202e]/.test(await textOf(page, "value")), "in values, too");
  same(await page.title(), title, "the title of the page");
});

test("a line of 1 MB and 100,000 lines leave the page small and quick", async world => {
  const page = await world.open();
  await run(page, "process.stdout.write('x'.repeat(1000000) + 'END\\n')", "ok");
  let size = await page.evaluate(() => document.querySelector(".log").textContent.length);
  check(size > 100_000 && size <= 220_000, `the page holds ${size} characters of the line`);
  check((await page.locator(".log").evaluate(node => node.textContent)).endsWith("END\n"), "its end is shown");
  check((await textOf(page, "output")).includes("are not shown"), "what is left out is said");
  await run(page, "for (let i = 0; i < 100000; i++) console.log('line ' + i)", "ok");
  size = await page.evaluate(() => [document.querySelector(".log").textContent.length, document.querySelectorAll("*").length]);
  check(size[0] <= 220_000 && size[1] < 3000, `the page holds ${size[0]} characters in ${size[1]} elements`);
  const took = await page.evaluate(() => new Promise(done => { const at = performance.now(); requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - at))); }));
  check(took < 3000, `two frames take ${took} ms`);
});

test("huge values are drawn in portions", async world => {
  const page = await world.open();
  await run(page, "({ text: 'y'.repeat(2000000), list: Array.from({ length: 100000 }, (_, i) => ({ i })), deep: Array.from({ length: 90 }).reduce(v => [v], 1) })", "ok");
  const list = pane(page, "value").locator("summary", { hasText: "Array(100,000)" });
  await list.click();
  await list.locator("xpath=../ul/li").first().waitFor();
  const size = await page.evaluate(() => [document.querySelector("[data-pane=value]").textContent.length, document.querySelectorAll("*").length]);
  check(size[0] < 20_000 && size[1] < 1500, `the page holds ${size[0]} characters in ${size[1]} elements`);
});

test("a page that a guest shows can run nothing, load nothing and reach nothing", async world => {
  const asked = [], elsewhere = createServer(socket => {
    asked.push("a connection");
    socket.on("data", bytes => asked.push(String(bytes).split("\n")[0])).on("error", () => {});
    socket.end("HTTP/1.1 204 No Content\r\n\r\n");
  });
  await new Promise(done => elsewhere.listen(0, "127.0.0.1", done));
  const away = `http://127.0.0.1:${elsewhere.address().port}`, page = await world.open();
  await page.evaluate(() => {
    window.heard = [];
    addEventListener("message", event => window.heard.push(String(event.data)));
  });
  const html = `<h1>hello</h1><script>parent.postMessage("script", "*")</script><img src=x onerror="parent.postMessage(1, '*')">
<img src="${away}/pixel"><style>h1 { background: url(${away}/sheet) }</style><link rel=stylesheet href="${away}/link">
<link rel=preconnect href="${away}"><link rel=prefetch href="${away}/prefetch"><iframe src="${away}/frame"></iframe>
<meta http-equiv=refresh content="0;url=${away}/refresh"><form action="${away}/form"><button>go</button></form>
<svg><image href="${away}/svg"/></svg><video src="${away}/video" poster="${away}/poster" autoplay></video><a href="${away}/top" target=_top>away</a>`;
  await run(page, `display.html(${JSON.stringify(html)})`, "ok");
  const frame = page.frameLocator("iframe.frame");
  same(await frame.locator("h1").innerText(), "hello", "it is shown");
  await frame.locator("button").click();
  await frame.locator("a").click();
  await page.waitForTimeout(1000);
  same(await page.evaluate(() => window.heard), [], "no script ran");
  same(asked, [], "nothing was asked for elsewhere");
  same(await page.locator("iframe.frame").getAttribute("sandbox"), "", "the frame may do nothing");
  check(page.url().startsWith(world.server.url), "the page is still here");
  elsewhere.close();
});

test("the policy lets the page run its own script only, and no text become markup", async world => {
  const page = await world.open();
  const found = await page.evaluate(async () => {
    const script = document.createElement("script"), results = {};
    const tried = fn => { try { fn(); return "worked"; } catch (error) { return error.name; } };
    results.inner = tried(() => { document.createElement("p").innerHTML = "<b>x</b>"; });
    results.srcdoc = tried(() => { document.createElement("iframe").srcdoc = "<b>x</b>"; });
    await new Promise(done => setTimeout(done, 50)); // what drives the browser may eval in its first turn
    results.eval = tried(() => { (0, eval)("1"); });
    results.text = tried(() => { script.textContent = "window.broken = 1"; document.head.append(script); });
    const link = document.createElement("a");
    link.href = "javascript:window.broken=1";
    link.click();
    const image = document.createElement("p");
    results.attribute = tried(() => image.setAttribute("onclick", "window.broken=1"));
    image.click();
    results.elsewhere = await fetch("http://127.0.0.1:9/").then(() => "worked", error => error.name);
    await new Promise(done => setTimeout(done, 200));
    results.broken = window.broken ?? null;
    return results;
  });
  // Only what is a plain word in the page's own world can be judged; refusals have different names.
  check(found.inner !== "worked" && found.srcdoc !== "worked" && found.eval !== "worked" && found.attribute !== "worked" && found.elsewhere !== "worked" && found.broken === null, JSON.stringify(found));
  const head = (await fetch(world.server.url)).headers, policy = head.get("content-security-policy");
  for (const part of ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) {
    check(policy.includes(part), `the policy has ${part}`);
  }
  check(!policy.includes("unsafe") && !policy.includes("*"), "nothing unsafe is in it");
  same(["x-content-type-options", "referrer-policy", "x-dns-prefetch-control", "cross-origin-opener-policy"].map(name => head.get(name)),
    ["nosniff", "no-referrer", "off", "same-origin"], "the other headers");
  same(world.requests.filter(url => !url.startsWith(world.server.url + "/v1/") && url !== world.server.url + "/" && !url.startsWith("data:") && !url.startsWith("http://127.0.0.1:9/")), [], "the page brings everything along");
});

test("a server that goes away in the middle is said", async world => {
  const server = await Server.start("--insecure-local");
  const page = await world.open({ url: server.url });
  await page.fill("#source", "console.log('begun'); await new Promise(done => setTimeout(done, 9000))");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector(".log")?.textContent === "begun\n");
  server.process.kill("SIGKILL");
  await pane(page, "error").waitFor();
  check((await textOf(page, "error")).includes("the connection ended before the run did"), "what happened");
  check((await textOf(page, "output")).includes("begun"), "what was printed stays");
  await page.click("#run");
  await pane(page, "error").getByText("cannot be reached").waitFor();
  await server.stop();
});
