// The digest of a text.
import { createHash, randomUUID } from "node:crypto";
const digest = createHash("sha256").update("hello").digest("hex");
const id = randomUUID();
export default { same: digest === "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", id: id.length };
