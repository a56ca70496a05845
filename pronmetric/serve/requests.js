
// ---- requests to the server that sent this page

const TRIES = 5;
const SILENT = "The server does not answer. Is it still running?";

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });

// The answer to a request; a server that is busy is asked again.
async function ask(path, body, signal) {
  for (let left = TRIES; ; left -= 1) {
    let reply, found;
    try {
      reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
      found = await reply.json();
    } catch (error) {
      throw signal.aborted ? error : new Error(SILENT);
    }
    if (reply.ok) return found;
    const busy = reply.status === 429 || reply.status === 503;
    if (!busy || left === 1) throw new Error(busy ? "The server is busy. Try again in a moment." : found.detail);
    await pause(Number(reply.headers.get("Retry-After")) || 1);
    signal.throwIfAborted();
  }
}
