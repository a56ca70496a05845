
// ---- answers in the browser's storage: [[answer, seconds], ...], in the order of the tasks

const place = (who) => `pronmetric-study ${data.study} ${who}`;
let kept = null;  // where the browser stores nothing

function stored(who) {
  try {
    const found = kept || JSON.parse(localStorage.getItem(place(who)) || "[]");
    const valid = Array.isArray(found) && found.length <= data.annotators[who].length &&
      found.every((one) => Array.isArray(one) && data.answers.includes(one[0]));
    return valid ? found : [];
  } catch { return []; }
}

function positionOf(who) {
  const done = stored(who).length, total = data.annotators[who].length;
  return { done, total, task: done < total ? done : null, last: done ? done - 1 : null };
}

function change(who, given) {
  try {
    localStorage.setItem(place(who), JSON.stringify(given));
    kept = null;
  } catch {
    kept = given;
    const message = "This browser stores nothing. Save your answers before you close the page.";
    throw Object.assign(new Error(message), { position: positionOf(who) });
  }
  return positionOf(who);
}

// The file that `pronmetric study report` reads.
function content(who) {
  const tasks = data.annotators[who];
  const answers = stored(who).map(([name, seconds], task) => ({ task, item: data.items[tasks[task][0]][0], answer: name, seconds }));
  return JSON.stringify({ format: data.format, study: data.study, annotator: who, answers }, null, 1) + "\n";
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content(state.who)], { type: "application/json" }));
  link.download = `answers-${state.who}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function chooseAnnotator() {
  Object.assign(state, { who: null, at: null });
  kept = null;
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

$("done-text").textContent = "Save your answers and send the file to the organizers of the study.";
$("save").hidden = false;
$("save").onclick = save;
$("leave").hidden = Object.keys(data.annotators).length < 2;
$("leave").onclick = chooseAnnotator;
window.onstorage = (event) => {  // another tab of the same annotator
  if (state.who !== null && event.key === place(state.who)) move(() => positionOf(state.who), false);
};
start({
  position: positionOf,
  answer: (who, task, name, seconds) => change(who, [...stored(who), [name, seconds]]),
  undo: (who) => change(who, stored(who).slice(0, -1)),
});
const names = Object.keys(data.annotators);
if (names.length === 1) enter(names[0]); else chooseAnnotator();
