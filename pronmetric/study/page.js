"use strict";
// Asks one task after the other; strings of the data are inserted as text nodes only.
//
// items: [id, previous sentences, source, previous source sentences, two versions]; a version: [text before the words
// that differ, these words, text after them], or [text]. The versions are in alphabetical order.
// annotators: {name: tasks}; task: [item, version that is shown first].
// stored: [[answer, seconds], ...], in the order of the tasks.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const KEYS = { "1": "first", "2": "second", "0": "both", "9": "neither" };
const NAMES = { first: "first version", second: "second version", both: "both are fine", neither: "neither is right" };
const keyOf = (name) => Object.keys(KEYS).find((key) => KEYS[key] === name);
const THEMES = { auto: "◐ auto", light: "○ light", dark: "● dark" };
const state = { who: null, given: [], since: 0 };

// ---- storage

const place = (who) => `pronmetric-study ${data.study} ${who}`;

function stored(who) {
  try {
    const found = JSON.parse(localStorage.getItem(place(who)) || "[]");
    const valid = Array.isArray(found) && found.length <= data.annotators[who].length &&
      found.every((one) => Array.isArray(one) && data.answers.includes(one[0]));
    return valid ? found : [];
  } catch { return []; }
}

function store() {
  try {
    localStorage.setItem(place(state.who), JSON.stringify(state.given));
  } catch {
    $("warning").textContent = "This browser stores nothing. Save your answers before you close the page.";
    $("warning").hidden = false;
  }
}

// ---- drawing

function write(parent, version) {
  if (version.length === 1) return parent.replaceChildren(version[0]);
  const mark = document.createElement("mark");
  mark.textContent = version[1];
  parent.replaceChildren(version[0], mark, version[2]);
}

function show(section) {
  for (const id of ["start", "task", "done"]) $(id).hidden = id !== section;
  $("tools").hidden = section === "start";
}

function draw(focus) {
  if (state.who === null) return drawStart();
  const tasks = data.annotators[state.who], at = state.given.length;
  $("who").textContent = `Annotator ${state.who}`;
  $("undo").disabled = at === 0;
  $("leave").hidden = Object.keys(data.annotators).length < 2;
  const over = at === tasks.length;
  show(over ? "done" : "task");
  if (over) { if (focus) $("done-head").focus(); return; }
  const [item, first] = tasks[at], [, before, source, sourceBefore, versions] = data.items[item];
  $("bar").max = tasks.length;
  $("bar").value = at;
  $("count").textContent = `${at + 1} of ${tasks.length}`;
  $("before").textContent = before.join(" ");
  $("sources").hidden = source === null;
  $("source-before").textContent = sourceBefore.join(" ");
  $("source").textContent = source || "";
  write($("first-text"), versions[first]);
  write($("second-text"), versions[1 - first]);
  state.since = performance.now();
  if (focus) { $("question").focus({ preventScroll: true }); scrollTo(0, 0); }
}

function drawStart() {
  $("who").textContent = "";
  $("people").replaceChildren(...Object.entries(data.annotators).map(([name, tasks]) => {
    const button = document.createElement("button"), done = stored(name).length;
    button.type = "button";
    button.textContent = `Annotator ${name}: ${done} of ${tasks.length}`;
    button.onclick = () => enter(name);
    return button;
  }));
  show("start");
}

// ---- actions

function enter(who) {
  state.who = who;
  state.given = who === null ? [] : stored(who);
  draw(true);
}

function answer(name) {
  if (state.who === null || !data.answers.includes(name)) return;
  if (state.given.length === data.annotators[state.who].length) return;
  state.given.push([name, Math.round((performance.now() - state.since) / 100) / 10]);
  store();
  draw(true);
}

function undo() {
  if (state.who === null || !state.given.length) return;
  state.given.pop();
  store();
  draw(true);
}

// The file that `pronmetric study report` reads.
function content() {
  const tasks = data.annotators[state.who];
  const answers = state.given.map(([name, seconds], task) => ({ task, item: data.items[tasks[task][0]][0], answer: name, seconds }));
  return JSON.stringify({ format: data.format, study: data.study, annotator: state.who, answers }, null, 1) + "\n";
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content()], { type: "application/json" }));
  link.download = `answers-${state.who}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- theme

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = THEMES[name];
  $("theme").setAttribute("aria-label", `Colour theme: ${name === "auto" ? "system" : name}`);
  try { localStorage.setItem("pronmetric-theme", name); } catch { /* the choice lasts as long as the page */ }
}

function storedTheme() {
  try { return localStorage.getItem("pronmetric-theme") || "auto"; } catch { return "auto"; }
}

// ---- start

theme(storedTheme() in THEMES ? storedTheme() : "auto");
$("theme").onclick = () => {
  const names = Object.keys(THEMES);
  theme(names[(names.indexOf($("theme").textContent.slice(2)) + 1) % names.length]);
};
for (const name of data.answers) {
  $(name).hidden = false;
  $(name).onclick = () => answer(name);
}
$("keys").textContent = data.answers.map((name) => `${keyOf(name)} ${NAMES[name]}`).join(", ") + ", u or Backspace to undo.";
$("undo").onclick = undo;
$("save").onclick = save;
$("leave").onclick = () => enter(null);
document.onkeydown = (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || state.who === null) return;
  if (event.key in KEYS) answer(KEYS[event.key]);
  else if (event.key === "u" || event.key === "Backspace") undo();
  else return;
  event.preventDefault();
};
window.onstorage = (event) => {  // another tab of the same annotator
  if (state.who === null || event.key !== place(state.who)) return;
  state.given = stored(state.who);
  draw(false);
};
const names = Object.keys(data.annotators);
enter(names.length === 1 ? names[0] : null);
