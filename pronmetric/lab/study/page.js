"use strict";
// Asks one task after the other; strings of the data are inserted as text nodes only.
//
// items: [id, previous sentences, source, previous source sentences, two versions]; a version: [text before the words
// that differ, these words, text after them], or [text]. The versions are in alphabetical order.
// annotators: {name: tasks}; task: [item, version that is shown first].
//
// local.js or remote.js follows this script and calls `start(store)`. A store keeps the answers: `position(who)`,
// `answer(who, task, answer, seconds)` and `undo(who, last)` give (or promise) the annotator's position
// {done, total, task, last}: answered tasks, all tasks or null, the task to answer or null, the one answered last or null.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const KEYS = { "1": "first", "2": "second", "0": "both", "9": "neither" };
const NAMES = { first: "first version", second: "second version", both: "both are fine", neither: "neither is right" };
const keyOf = (name) => Object.keys(KEYS).find((key) => KEYS[key] === name);
const THEMES = { auto: "◐ auto", light: "○ light", dark: "● dark" };
const state = { who: null, at: null, since: 0, busy: false };
let store = null;

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

function warn(text) {
  $("warning").textContent = text;
  $("warning").hidden = !text;
}

function draw(focus) {
  const { done, total, task, last } = state.at;
  $("who").textContent = `Annotator ${state.who}`;
  $("undo").disabled = last === null;
  show(task === null ? "done" : "task");
  if (task === null) { if (focus) $("done-head").focus(); return; }
  const [item, first] = data.annotators[state.who][task], [, before, source, sourceBefore, versions] = data.items[item];
  $("bar").hidden = total === null;
  if (total !== null) { $("bar").max = total; $("bar").value = done; }
  $("count").textContent = total === null ? `${done} answered` : `${done + 1} of ${total}`;
  $("before").textContent = before.join(" ");
  $("sources").hidden = source === null;
  $("source-before").textContent = sourceBefore.join(" ");
  $("source").textContent = source || "";
  write($("first-text"), versions[first]);
  write($("second-text"), versions[1 - first]);
  state.since = performance.now();
  if (focus) { $("question").focus({ preventScroll: true }); scrollTo(0, 0); }
}

// ---- actions

// One change at a time; after a failure the same task is shown, unless the error has another position.
async function move(change, focus = true) {
  if (state.busy) return;
  state.busy = true;
  try {
    state.at = await change();
    warn("");
  } catch (error) {
    warn(error.message);
    if (!error.position) return;
    state.at = error.position;
  } finally { state.busy = false; }
  draw(focus);
}

async function enter(who) {
  state.who = who;
  state.at = null;
  await move(() => store.position(who));
}

async function answer(name) {
  const { who, at } = state;
  if (at === null || at.task === null || !data.answers.includes(name)) return;
  await move(() => store.answer(who, at.task, name, Math.round((performance.now() - state.since) / 100) / 10));
}

async function undo() {
  const { who, at } = state;
  if (at !== null && at.last !== null) await move(() => store.undo(who, at.last));
}

// ---- theme

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = THEMES[name];
  $("theme").setAttribute("aria-label", `Colour theme: ${name}`);
  try { localStorage.setItem("pronmetric-theme", name); } catch { /* the choice lasts as long as the page */ }
}

function storedTheme() {
  try { return localStorage.getItem("pronmetric-theme") || "auto"; } catch { return "auto"; }
}

// ---- start

function start(chosen) {
  store = chosen;
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
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || state.at === null) return;
    if (event.key in KEYS) answer(KEYS[event.key]);
    else if (event.key === "u" || event.key === "Backspace") undo();
    else return;
    event.preventDefault();
  };
}
