
// ---- the page
//
// data: { context: sentences of a context that the model reads, doubtful: threshold, null without probabilities,
// lang: of the translations, sources: whether they are used, sourcesAffectScores, findsMissing: whether the
// source tells missing pronouns, sourceLang: its language, null if unknown }

const data = JSON.parse($("data").textContent);
const LINES = 32, CHARACTERS = 20000; // of a request, well below what the server takes
const MOST = 1000, LARGEST_FILE = 2 ** 21, WAIT = 500;
const EXAMPLES = {
  "a thing": {
    source: "Sie ist alt, und sie braucht ein neues Dach.",
    context: "The library has stood on the hill since 1874.",
    first: "It is old, and she needs a new roof.",
    second: "It is old, and it needs a new roof.",
  },
  "two people": {
    source: "Sie erzählte ihm, dass sie bestanden hatte.",
    context: "Marta called her brother after the exam.",
    first: "He told her that he had passed.",
    second: "She told him that she had passed.",
  },
  "three lines": {
    source: "Meine Tante hat im Frühjahr ein Boot gekauft.\nEs ist klein, aber sie liebt es.\nJeden Sonntag helfen wir ihr, es zu streichen.",
    context: "",
    first: "My aunt bought a boat in spring.\nHe is small, but she loves him.\nEvery Sunday we help her paint it.",
    second: "My aunt bought a boat in spring.\nIt is small, but she loves it.\nEvery Sunday we help him paint it.",
  },
  "one translation": { source: "", context: "", first: "The engineers which built the bridge say that they will last for a century.", second: "" },
};
const examples = () => data.lang === "en" ? EXAMPLES : {};
const state = { run: null, timer: 0, example: null };
const texts = () => Object.fromEntries(Object.keys(FIELDS).map((name) => [name, $(name).value]));

function fill(fields) {
  for (const name of Object.keys(FIELDS)) $(name).value = fields[name];
}

function warn(text) { $("warning").textContent = text; }

function show(segments, said = null) {
  $("summary").textContent = segments.length ? summary(segments, said) : "";
  $("figures").textContent = segments.length ? figures(segments, said) : "";
  for (const id of ["legend", "keys"]) $(id).hidden = !segments.length;
}

// What stands in the way of checking the fields; "" if nothing does.
function obstacle(first, second) {
  if (!first.length && !second.length) return "Nothing to score: write or drop a translation into the first box, or choose an example.";
  if (!first.length) return "Put the translation into the first of the two boxes.";
  if (second.length && second.length !== first.length) {
    return `The translations have ${count(first.length, "line")} and ${count(second.length, "line")}: a line of one is compared with the same line of the other, so give both the same number.`;
  }
  return first.length > MOST ? `More than ${MOST} lines: use pronmetric score or compare.` : "";
}

// Checks the fields, or an example while they are empty.
async function check(example = null) {
  clearTimeout(state.timer);
  if (state.run) state.run.abort();
  const run = state.run = new AbortController();
  const fields = example || texts();
  state.example = example;
  $("example").hidden = !example;
  if (!example) history.replaceState(null, "", fragment(fields) || location.pathname + location.search);
  const sides = [lines(fields.first), lines(fields.second)];
  const blocked = obstacle(...sides);
  warn(blocked);
  const going = !blocked && sides[0].length > 0;
  $("list").setAttribute("aria-busy", going);
  if (!going) { $("list").replaceChildren(); show([]); return; }
  const given = lines(fields.source), fits = given.length === sides[0].length;
  if (given.length && !fits) warn(`The source has ${count(given.length, "line")} for ${sides[0].length} of the translation: it is left out.`);
  const counting = fits && data.sources ? given : null;
  const asked = sides.filter((side) => side.length).map((side) => records(side, fields.context, counting, data.context));
  $("list").classList.add("waits");
  try {
    const segments = [], noted = [], spans = parts(asked);
    for (const [from, to] of spans) {
      const { found, notes, verdict } = await scored(asked.map((side) => side.slice(from, to)), fits ? given : null, run.signal);
      segments.push(...found);
      noted.push(...notes.map((note) => noteOf(note, spans.length > 1 ? `Lines ${from + 1} to ${to}: ` : "")));
      if (noted.length) warn(noted.join(" "));
      if (from === 0) { $("list").replaceChildren(); $("list").classList.remove("waits"); }
      $("list").append(...segments.slice(from).map((segment) => draw(segment, change, asked[0].length === 1)));
      show(segments, spans.length > 1 ? null : verdict);
    }
    for (const [from, to] of spans) await explain(segments.slice(from, to), asked, run.signal);
  } catch (error) {
    if (run.signal.aborted) return;
    warn(error.message);
  }
  $("list").classList.remove("waits");
  $("list").setAttribute("aria-busy", false);
}

// A note of the server as a sentence; its records are lines here.
function noteOf(note, where) {
  const said = note.replace(/^record /, "line ");
  return `${where}${where ? said : said[0].toUpperCase() + said.slice(1)}.`;
}

// The records as spans [from, to) for one request each.
function parts(asked) {
  const found = [];
  let from = 0, held = 0;
  asked[0].forEach((_, at) => {
    const size = asked.reduce((sum, side) => sum + JSON.stringify(side[at]).length, 0);
    if (at > from && (at - from === LINES || held + size > CHARACTERS)) { found.push([from, at]); from = at; held = 0; }
    held += size;
  });
  return [...found, [from, asked[0].length]];
}

// The segments of records of one or two sides, scored and compared, and notes on them.
async function scored(part, sources, signal) {
  const made = (at, outputs, verdict) => ({ at, source: sources && sources[at], outputs, verdict });
  const output = (side, record, entry) => ({ side, context: record.context.join(" "), ...entry, text: record.text });
  if (part.length === 1) {
    const { records: given, notes, verdict } = await ask("score", { lang: data.lang, records: part[0] }, signal);
    return { notes, verdict, found: given.map((entry, k) => made(part[0][k].id - 1, [output(0, part[0][k], entry)], null)) };
  }
  const { segments, by, notes, verdict } = await ask("compare", { lang: data.lang, a: part[0], b: part[1] }, signal);
  const found = segments.map(({ outputs, pairs: [{ better, difference }] }, k) =>
    made(part[0][k].id - 1, outputs.map((entry, side) => output(side, part[side][k], entry)), { better, difference, by }));
  return { notes, verdict, found };
}

// Adds attention and better forms to segments, and draws them again.
async function explain(segments, asked, signal) {
  const plain = asked.map((side) => segments.map(({ at }) => ({ ...side[at], source: undefined, source_context: undefined })));
  const looks = await Promise.all(plain.map((own) => ask("attention", { lang: data.lang, records: own }, signal)));
  segments.forEach((segment, k) => {
    segment.outputs.forEach((output, side) => { output.looks = looks[side].records[k]; });
    paint(segment, change);
  });
  if (data.doubtful === null) return;
  for (const segment of segments) {
    const unsure = segment.outputs.filter((output) => output.pronouns.some(doubtful));
    const found = await Promise.all(unsure.map(({ side }) =>
      ask("suggest", { lang: data.lang, records: [asked[side][segment.at]], threshold: data.doubtful }, signal)));
    unsure.forEach((output, k) => { output.better = found[k].records[0].pronouns; });
    if (unsure.length) paint(segment, change);
  }
}

// Puts a form into a line of a translation and checks again.
function change(side, at, start, end, form) {
  if (state.example) fill(state.example);
  const field = $(side ? "second" : "first"), own = lines(field.value);
  own[at] = replaced(own[at], start, end, form);
  field.value = own.join("\n");
  $("results").focus({ preventScroll: true });
  check();
}

function later() {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => check(), WAIT);
}

// ---- files

// Puts the texts of a file into a field, whatever its format, and gives what is to be told of it.
async function load(field, file) {
  if (file.size > LARGEST_FILE) throw new Error(`${file.name} is larger than 2 MB: use pronmetric score or compare.`);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not text in UTF-8.`);
  }
  const read = await ask("texts", { name: file.name, text }, new AbortController().signal);
  const put = (name, given) => { $(name).value = given.map((line) => `${line}\n`).join(""); };
  put(field, field === "source" && read.sources || read.texts);
  if (field === "first" && read.sources) put("source", read.sources);
  return read.notes;
}

// Loads files: the first into `field`, a second one dropped on a translation into the second translation.
async function take(field, given) {
  const targets = [field, ...(field === "first" ? ["second"] : [])];
  try {
    const notes = [];
    for (const [k, file] of [...given].slice(0, targets.length).entries()) notes.push(...await load(targets[k], file));
    await check();
    if (notes.length) warn([$("warning").textContent, ...notes].filter(Boolean).join(" "));
  } catch (error) {
    warn(error.message);
  }
}

function choose(field) {
  const input = el("input", { type: "file" });
  input.onchange = () => take(field, input.files);
  input.click();
}

document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
for (const end of ["dragleave", "drop"]) document.addEventListener(end, () => document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const area = event.target.closest?.(".field")?.querySelector("textarea");
  if (event.dataTransfer.files.length) take(area ? area.id : "first", event.dataTransfer.files);
});

// ---- keys

// Moves the focus among elements, from the one that has it or, if none has, to the first.
function step(all, by) {
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); check().then(() => $("results").focus({ preventScroll: true })); return; }
  const article = document.activeElement.closest("article");
  if (!article || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };
  if (!(event.key in moves)) return;
  event.preventDefault();
  const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
  step([...(sideways ? article : $("list")).querySelectorAll(sideways ? ".p" : "article")], moves[event.key]);
});

// ---- start

// What the page says of its language.
function tell() {
  const language = data.sourceLang ? `, in the language ${data.sourceLang}` : "";
  $("source-hint").textContent = `optional${language}; ${data.sourcesAffectScores ? "affects" : "shown, does not affect"} the scores`;
  const made = Object.entries(examples()).map(([name, fields]) => {
    const one = el("button", { type: "button" }, name);
    one.onclick = () => { fill(fields); check(); };
    return one;
  });
  $("examples").replaceChildren(...(made.length ? ["Examples:", ...made] : []));
}

// Shows the result of the fields or, while they are empty, of an example, if the language has one.
function start() {
  const empty = !Object.values(texts()).some((text) => text.trim()), [example] = Object.values(examples());
  if (!empty || example) { check(empty ? example : null); return; }
  if (state.run) state.run.abort();
  $("example").hidden = true;
  $("list").replaceChildren();
  $("list").setAttribute("aria-busy", false);
  show([]);
  warn("");
}

// Takes what the page of another language says of it; texts stay, an example of another language does not.
async function speak(code) {
  const address = `${location.pathname}?${new URLSearchParams({ lang: code })}`;
  try {
    const reply = await fetch(address);
    if (!reply.ok) throw new Error(await reason(reply));
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    if ($("lang").value !== code) return;
    if (Object.values(examples()).some((one) => JSON.stringify(one) === JSON.stringify(texts()))) fill(fieldsOf("#"));
    Object.assign(data, JSON.parse(page.getElementById("data").textContent));
    for (const id of ["people", "signature"]) $(id).replaceWith(page.getElementById(id));
    history.replaceState(null, "", address + location.hash);
    tell();
    start();
  } catch (error) {
    $("lang").value = data.lang;
    warn(error instanceof TypeError ? SILENT : error.message);
  }
}

function begin() {
  $("legend").append(...legend());
  tell();
  if (!data.context) $("context").closest(".field").hidden = true;
  if ($("lang")) $("lang").onchange = () => speak($("lang").value);
  for (const name of Object.keys(FIELDS)) $(name).oninput = later;
  for (const one of document.querySelectorAll(".file")) one.onclick = () => choose(one.dataset.for);
  $("check").onclick = () => check();
  $("clear").onclick = () => { fill(fieldsOf("#")); check(); $("first").focus(); };
  $("link").onclick = async () => {
    const hash = fragment(texts());
    history.replaceState(null, "", hash || location.pathname + location.search);
    if (!hash) { warn("The text is empty, or too long for an address."); return; }
    try { await navigator.clipboard.writeText(location.href); $("link").textContent = "Copied"; } catch { $("link").textContent = "Copy the address"; }
    setTimeout(() => { $("link").textContent = "Copy link"; }, 2000);
  };
  window.addEventListener("hashchange", () => { fill(fieldsOf(location.hash)); check(); });
  if (location.hash.length > 1) fill(fieldsOf(location.hash));
  start();
}

begin();
