// Asks one task after the other; strings of the data are inserted as text nodes only. report/common.js comes before.
//
// items: [id, previous sentences, source, previous source sentences, two versions]; a version: [text before the words
// that differ, these words, text after them], or [text]. The versions are in alphabetical order. With stages: one version.
// annotators: {name: tasks}; task: [item, version that is shown first]. questions: of each step (see STEPS).
// guide: null, or {instructions, example, training, lang}; an example: [item, right answer, reason]. breaks: tasks
// between two breaks, 0 for none. codes: {fragment of a link: annotator}. lang: of the texts; the guide has its own.
//
// local.js or remote.js follows this script and calls `start(store)`. A store keeps the answers: `position(who)`,
// `answer(who, task, answer, seconds, comment)` and `undo(who, last)` give (or promise) the annotator's position
// {done, total, task, last}: answered tasks, all tasks or null, the task to answer or null, the one answered last or null.

const data = JSON.parse($("data").textContent);
const CHOICES = {  // [key, label, what it means]
  first: ["1", "First version", "Only the first version fits."],
  second: ["2", "Second version", "Only the second version fits."],
  both: ["0", "Both are fine", "Both versions fit: the text leaves open which of them is right."],
  neither: ["9", "Neither is right", "No version fits."],
  invalid: ["8", "Cannot be judged", "The words that differ are no pronouns, or the sentences do not belong together."],
  yes: ["1", "Good by itself"],
  alone: ["2", "Not good by itself"],
  good: ["1", "They fit together"],
  no: ["2", "They do not fit together"],
  deixis: ["1", "Deixis"],
  ellipsis: ["2", "Ellipsis"],
  cohesion: ["3", "Lexical cohesion"],
  ambiguity: ["4", "Ambiguity"],
  anaphora: ["5", "Anaphora"],
  other: ["6", "Something else"],
};
const label = (name) => CHOICES[name][1];
const phenomena = data.answers.filter((name) => !["good", "alone", "invalid"].includes(name));
const invalid = data.answers.filter((name) => name === "invalid");
// What can be chosen, step by step: with stages, two translations alone, then both together, then the phenomenon.
const STEPS = data.stages ?
  [["yes", "alone", ...invalid], ["yes", "alone", ...invalid], ["good", "no", ...invalid], [...phenomena, ...invalid]] :
  [data.answers];
// sitting: answers since the last break; training: the item that is tried, null outside; told: its answer was told.
const state = { who: null, at: null, since: 0, busy: false, section: null, step: 0, sitting: 0, training: null,
  told: false, guided: !data.guide, timer: 0, comment: "" };
let store = null;

// ---- drawing

function write(parent, version) {
  if (version.length === 1) return parent.replaceChildren(version[0]);
  parent.replaceChildren(version[0], el("mark", {}, version[1]), version[2]);
}

function show(section) {
  state.section = section;
  for (const each of document.querySelectorAll("main > section")) each.hidden = each.id !== section;
  $("tools").hidden = section === "start";
  $("help").hidden = !data.guide || section === "guide" || state.training !== null;
}

function warn(text) {
  $("warning").textContent = text;
  $("warning").hidden = !text;
}

// What was just answered, for a moment.
function say(text) {
  clearTimeout(state.timer);
  $("said").textContent = text;
  if (text) state.timer = setTimeout(() => say(""), 5000);
}

function draw(focus) {
  const { done, task } = state.at;
  $("who").textContent = `Annotator ${state.who}`;
  if (done > 0) state.guided = true;
  let head;
  if (task === null) show(head = "done");
  else if (!state.guided) return drawGuide(focus);
  else if (data.breaks && state.sitting >= data.breaks) {
    $("pause-text").textContent = `You have answered ${state.sitting} tasks since the last break. All of them are stored.`;
    show(head = "pause");
  } else return drawTask(focus);
  drawUndo();
  if (focus) $(`${head}-head`).focus();
}

function drawGuide(focus) {
  const { instructions, lang, example: [[, before, , , versions], answer, why] } = data.guide;
  $("instructions").replaceChildren(...instructions.map((text) => el("p", {}, text)));
  $("answers").replaceChildren(...(data.stages ? [] : data.answers).map((name) =>
    el("li", {}, el("kbd", {}, CHOICES[name][0]), ` ${label(name)}: ${CHOICES[name][2]}`)));
  const texts = versions.map((version, number) => {
    const words = el("span", { className: "words" });
    write(words, version);
    return el("p", { className: "version", lang }, ...(data.stages ? [] : [el("kbd", {}, String(number + 1))]), words);
  });
  $("example").replaceChildren(el("p", { className: "before", lang }, before.join(" ")), ...texts,
    el("p", {}, el("b", {}, `${label(answer)}. `), why));
  $("begin").textContent = state.guided ? "Back to the tasks" : "Start the training";
  show("guide");
  $("undo").disabled = true;
  if (focus) { $("guide-head").focus({ preventScroll: true }); scrollTo(0, 0); }
}

// The item that is asked about, and the version that is shown first.
function asked() {
  if (state.training !== null) return [data.guide.training[state.training][0], 0];
  const [item, first] = data.annotators[state.who][state.at.task];
  return [data.items[item], first];
}

function drawTask(focus) {
  const { done, total } = state.at, trained = state.training !== null;
  state.step = 0;
  state.told = false;
  $("feedback").hidden = true;
  $("remark").hidden = trained;
  $("comment").value = "";
  $("bar").hidden = trained || total === null;
  if (total !== null) { $("bar").max = total; $("bar").value = done; }
  $("count").textContent = trained ? `Training ${state.training + 1} of ${data.guide.training.length}` :
    total === null ? `${done} answered` : `${done + 1} of ${total}`;
  show("task");
  drawStep(focus);
  state.since = performance.now();
}

function drawStep(focus) {
  const [[, before, source, sourceBefore, versions], first] = asked();
  const names = STEPS[state.step], alone = data.stages && state.step < 2, one = state.step === 0 && alone;
  const ofOne = one ? sourceBefore.at(-1) ?? null : source;
  $("question").textContent = data.questions[state.step];
  for (const id of ["before", "alone-text", "first-text", "second-text"]) $(id).lang = (state.training === null ? data : data.guide).lang;
  $("before").textContent = alone ? "" : before.join(" ");
  $("sources").hidden = ofOne === null;
  $("source-before").textContent = alone ? "" : sourceBefore.join(" ");
  $("source").textContent = ofOne ?? "";
  $("alone").hidden = !data.stages;
  if (data.stages) write($("alone-text"), one ? [before.at(-1)] : versions[0]);
  else { write($("first-text"), versions[first]); write($("second-text"), versions[1 - first]); }
  for (const id of ["first", "second"]) $(id).hidden = !names.includes(id);
  $("others").replaceChildren(...names.filter((name) => !["first", "second"].includes(name)).map((name) =>
    el("button", { type: "button", id: name, onclick: () => choose(name) }, el("kbd", {}, CHOICES[name][0]), ` ${label(name)}`)));
  $("keys").textContent = names.map((name) => `${CHOICES[name][0]} ${label(name).toLowerCase()}`).join(", ") +
    ", c to comment, u or Backspace to undo.";
  lock(state.told);
  drawUndo();
  if (focus) { $("question").focus({ preventScroll: true }); scrollTo(0, 0); }
}

function lock(on) {
  for (const button of document.querySelectorAll("#task .texts button, #others button")) button.disabled = on;
}

function drawUndo() {
  const stepped = state.section === "task" && state.step > 0 && !state.told;
  $("undo").disabled = !stepped && (state.training !== null || state.at.last === null);
}

// ---- actions

// One change at a time; after a failure the same task is shown, unless the error has another position.
async function move(change, { focus = true, said = "", comment = "" } = {}) {
  if (state.busy) return false;
  state.busy = true;
  try {
    state.at = await change();
    warn("");
    say(said);
  } catch (error) {
    warn(error.message);
    if (!error.position) return false;
    state.at = error.position;
  } finally { state.busy = false; }
  draw(focus);
  $("comment").value = comment;
  return true;
}

async function enter(who) {
  Object.assign(state, { who, at: null, training: null, sitting: 0, guided: !data.guide, comment: "" });
  await move(() => store.position(who));
}

function choose(name) {
  if (state.section !== "task" || state.told || state.busy || !STEPS[state.step].includes(name)) return;
  if (name === "yes" || name === "no") { state.step += 1; drawStep(true); } else if (state.training !== null) tell(name);
  else answer(name);
}

async function answer(name) {
  const { who, at } = state, comment = $("comment").value.trim();
  const seconds = Math.round((performance.now() - state.since) / 100) / 10;
  const change = async () => {
    const position = await store.answer(who, at.task, name, seconds, comment);
    state.sitting += 1;
    state.comment = comment;
    return position;
  };
  await move(change, { said: `Answered: ${label(name).toLowerCase()}.` });
}

async function undo() {
  const { who, at } = state;
  if (state.section === "task" && state.step > 0 && !state.told) { state.step -= 1; return drawStep(true); }
  if (state.section === "guide" || state.training !== null || at.last === null) return;
  const change = async () => {
    const position = await store.undo(who, at.last);
    state.sitting = Math.max(0, state.sitting - 1);
    return position;
  };
  await move(change, { comment: state.comment });
  state.comment = "";
}

// ---- training

function tell(name) {
  const [, right, why] = data.guide.training[state.training];
  state.told = true;
  lock(true);
  drawUndo();
  $("verdict").textContent = (name === right ? "Right. " : `The answer here is “${label(right)}”. `) + why;
  $("next").textContent = state.training + 1 < data.guide.training.length ? "Next" : "Start the tasks";
  $("feedback").hidden = false;
  $("next").focus();
}

function next() {
  if (state.training + 1 < data.guide.training.length) { state.training += 1; return drawTask(true); }
  Object.assign(state, { training: null, told: false, guided: true });
  draw(true);
}

function begin() {
  if (state.guided) return draw(true);
  state.training = 0;
  drawTask(true);
}

// ---- start

function press(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || state.at === null) return;
  if (event.target === $("comment")) {
    if (event.key === "Escape") $("question").focus();
    return;
  }
  const name = state.section === "task" && STEPS[state.step].find((each) => CHOICES[each][0] === event.key);
  if (name) choose(name);
  else if (event.key === "u" || event.key === "Backspace") undo();
  else if (event.key === "c" && state.section === "task" && state.training === null) $("comment").focus();
  else return;
  event.preventDefault();
}

function start(chosen) {
  store = chosen;
  for (const name of ["first", "second"]) $(name).onclick = () => choose(name);
  $("undo").onclick = undo;
  $("begin").onclick = begin;
  $("next").onclick = next;
  $("help").onclick = () => drawGuide(true);
  $("go-on").onclick = () => { state.sitting = 0; draw(true); };
  document.onkeydown = press;
}

