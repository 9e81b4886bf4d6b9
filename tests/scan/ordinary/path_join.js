// Paths and URLs.
import path from "node:path";
const url = new URL("https://example.com/docs/a/../b.html?page=2#top");
url.searchParams.set("lang", "en");
export default {
  file: path.join("reports", "2025", path.basename(url.pathname)),
  ext: path.extname(url.pathname),
  url: url.href,
};
