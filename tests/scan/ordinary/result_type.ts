// Results instead of exceptions.
type Result<T, E = Error> = { ok: true; value: T } | { ok: false; error: E };
function parse(text: string): Result<unknown, string> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (e) {
    return { ok: false, error: (e as Error).message };
  }
}
[parse("[1]"), parse("[")].map((r) => r.ok);
