
// ---- answers on the server that sent this page; an answer counts when the server has stored it

const OFFLINE = "The server does not answer; nothing was stored. Try again in a moment.";
const CONFLICT = "That task was already answered in another window, or given to somebody else. This is the next one.";
const BUSY = "Too many requests; nothing was stored. Try again in a moment.";
const BASE = location.pathname.replace(/\/$/, "");

async function ask(name, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let reply, found;
  try {
    reply = await fetch(`${BASE}/${name}`, { ...sent, cache: "no-store", signal: AbortSignal.timeout(20000) });
    found = await reply.json();
  } catch { throw new Error(OFFLINE); }
  if (reply.status === 409) throw Object.assign(new Error(CONFLICT), { position: found });
  if (!reply.ok) throw new Error(reply.status === 429 ? BUSY : OFFLINE);
  return found;
}

$("done-text").textContent = "Your answers are stored. You can close this page.";
start({
  position: () => ask("position"),
  answer: (who, task, name, seconds, comment) => ask("answers", { task, answer: name, seconds, comment }),
  undo: (who, last) => ask("undo", { task: last }),
});
window.onpageshow = (event) => { if (event.persisted) enter(state.who); };
enter(Object.keys(data.annotators)[0]);
