// steps.mjs - what tests of the playground do again and again.

export async function run(page, code, wanted) {
  await page.fill("#source", code);
  await page.click("#run");
  await status(page, wanted);
}

// Waits until the run has ended so.
export async function status(page, wanted) {
  try {
    await page.waitForFunction(text => document.getElementById("status").textContent === text && document.getElementById("cancel").hidden, wanted);
  } catch (error) {
    throw new Error(`the status is "${await page.textContent("#status")}" and not "${wanted}": ${await page.textContent("#result")}`, { cause: error });
  }
}

export const pane = (page, name) => page.locator(`[data-pane=${name}]`);
export const textOf = async (page, name) => (await pane(page, name).innerText()).replaceAll("\u00a0", " ");
