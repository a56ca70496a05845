// ---- answers in the browser's storage: [[answer, seconds, comment], ...], in the order of the tasks; a comment may be missing

const place = (who) => `pronmetric-study ${data.study} ${who}`;
let kept = null;  // where the browser stores nothing

function given(who) {
  try {
    const found = kept || JSON.parse(localStorage.getItem(place(who)) || "[]");
    const valid = Array.isArray(found) && found.length <= data.annotators[who].length &&
      found.every((one) => Array.isArray(one) && data.answers.includes(one[0]));
    return valid ? found : [];
  } catch { return []; }
}

function positionOf(who) {
  const done = given(who).length, total = data.annotators[who].length;
  return { done, total, task: done < total ? done : null, last: done ? done - 1 : null };
}

function change(who, all) {
  try {
    localStorage.setItem(place(who), JSON.stringify(all));
    kept = null;
  } catch {
    kept = all;
    const message = "This browser stores nothing. Save your answers before you close the page.";
    throw Object.assign(new Error(message), { position: positionOf(who) });
  }
  return positionOf(who);
}

// The file that `pronmetric study report` reads.
function content(who) {
  const tasks = data.annotators[who];
  const answers = given(who).map(([name, seconds, comment], task) =>
    ({ task, item: data.items[tasks[task][0]][0], answer: name, seconds, ...(comment && { comment }) }));
  return JSON.stringify({ format: data.format, study: data.study, annotator: who, answers }, null, 1) + "\n";
}

// An annotator is chosen by the link alone; a page for one annotator needs none.
function follow() {
  const names = Object.keys(data.annotators), code = location.hash.slice(1);
  kept = null;
  if (names.length === 1) return enter(names[0]);
  if (Object.hasOwn(data.codes, code)) return enter(data.codes[code]);
  Object.assign(state, { who: null, at: null });
  $("who").textContent = "";
  show("start");
}

$("done-text").textContent = "Save your answers and send the file to the organizers of the study.";
$("save").hidden = false;
$("save").onclick = () => saveFile(`answers-${state.who}.json`, content(state.who));
window.onhashchange = follow;
window.onstorage = (event) => {  // another tab of the same annotator
  if (state.who !== null && event.key === place(state.who)) move(() => positionOf(state.who), { focus: false });
};
start({
  position: positionOf,
  answer: (who, task, name, seconds, comment) => change(who, [...given(who), [name, seconds, ...(comment ? [comment] : [])]]),
  undo: (who) => change(who, given(who).slice(0, -1)),
});
follow();
