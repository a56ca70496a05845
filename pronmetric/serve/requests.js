
// ---- requests to the server that sent this page

const TRIES = 5;
const SILENT = "The server does not answer. Is it still running?";

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });

// Why a request failed: what the server says or, where a proxy answered in its place, the status.
async function reason(reply) {
  try { return (await reply.json()).detail; } catch { return `The server answered with status ${reply.status}.`; }
}

// The answer to a request; a server that is busy is asked again.
async function ask(path, body, signal) {
  for (let left = TRIES; ; left -= 1) {
    let reply;
    try {
      reply = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
      if (reply.ok) return await reply.json();
    } catch (error) {
      if (signal.aborted) throw error;
      if (left < TRIES) throw new Error(SILENT);
      await pause(1);  // an idle connection may close just as it is used again
      signal.throwIfAborted();
      continue;
    }
    const busy = reply.status === 429 || reply.status === 503;
    if (!busy || left === 1) throw new Error(busy ? "The server is busy. Try again in a moment." : await reason(reply));
    await pause(Number(reply.headers.get("Retry-After")) || 1);
    signal.throwIfAborted();
  }
}
