
// Compares two systems of a test set; the choice is in the fragment of the address.
//
// doubtful: the threshold below which a pronoun is marked. systems: names. classes: groups of pronouns, the first is all of them.
// by: what decides ("score", "errors", "preference"). units: of its difference, of two systems and of two segments.
// figures: of each system and class [pronouns, score, low, high, cluster, best rank, worst rank].
// pair: [a, b, verdict, of each class a difference of the scores, segments better in a, in b, the verdict in words], a < b.
// verdict, difference: [difference, low, high, p, a better, ties, b better]. segment better in one: [number, difference].
// segments: number -> [doc, source]. texts: "segment.system" -> [index of its context, pieces]; piece: a text, or
// [pronoun, probability].

const data = JSON.parse($("data").textContent);
const COUNT = 0, SCORE = 1;
const DOUBTFUL = data.doubtful; // pronouns with a lower probability are marked
const names = new Map(data.systems.map((name, number) => [name, number]));
const pairs = new Map(data.pairs.map((pair) => [`${pair[0]} ${pair[1]}`, pair]));
const state = { a: 0, b: 1 };

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (key, otherwise) => names.get(given.get(key)) ?? otherwise;
  state.a = number("a", 0);
  state.b = number("b", state.a === 0 ? Math.min(1, data.systems.length - 1) : 0);
}

function change(changes) {
  Object.assign(state, changes);
  const kept = new URLSearchParams({ a: data.systems[state.a], b: data.systems[state.b] });
  history.replaceState(null, "", `#${kept}`);
  draw();
}

const signed = (value) => (value === null ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(2)}`);
const less = (value) => (value === null ? null : -value || 0);

// The figures of a class in the order of the two chosen systems, and the segments that each of them wins.
function chosen() {
  const turned = state.a > state.b;
  const pair = pairs.get(turned ? `${state.b} ${state.a}` : `${state.a} ${state.b}`);
  if (!pair) return null;
  const [, , verdict, rows, first, second, said] = pair;
  if (!turned) return { verdict, rows, first, second, said };
  const turn = ([difference, low, high, p, wins, ties, losses]) => [less(difference), less(high), less(low), p, losses, ties, wins];
  const other = (segments) => segments.map(([number, difference]) => [number, less(difference)]);
  return { verdict: turn(verdict), rows: rows.map(turn), first: other(second), second: other(first), said };
}

function draw() {
  $("a").value = state.a;
  $("b").value = state.b;
  const [a, b] = [data.systems[state.a], data.systems[state.b]];
  const found = chosen();
  $("best-a").replaceChildren("A better: ", named(a));
  $("best-b").replaceChildren("B better: ", named(b));
  if (!found) {
    $("verdict").textContent = "Choose two different systems.";
    for (const id of ["table", "for-a", "for-b"]) $(id).replaceChildren();
    return;
  }
  $("verdict").textContent = found.said;
  table(found.verdict, found.rows);
  examples("for-a", found.first);
  examples("for-b", found.second);
}

// A row for each class of pronouns, by score; before them one by what decides, if that is not the score.
function table(verdict, rows) {
  const head = ["pronouns", "number in A", "number in B", "score of A", "score of B", "difference", "95 % interval", "p", "A better", "ties", "B better"];
  const body = el("tbody");
  const decided = data.by === "score" ? [] : [[`${classLabel(data.classes[0])}, by ${data.by} (${data.units[0]})`, 0, verdict]];
  const by = decided.length ? ", by score" : "";
  for (const [label, place, found] of [...decided, ...data.classes.map((name, k) => [classLabel(name) + by, k, rows[k]])]) {
    const [difference, low, high, p, wins, ties, losses] = found;
    const [x, y] = [data.figures[state.a][place], data.figures[state.b][place]];
    const cells = [x[COUNT], y[COUNT], figure(x[SCORE]), figure(y[SCORE]), signed(difference),
      low === null ? "–" : `${signed(low)} to ${signed(high)}`, figure(p, 4), wins, ties, losses];
    body.append(el("tr", {}, el("th", { scope: "row" }, label), ...cells.map((cell) => el("td", { className: "number" }, String(cell)))));
  }
  const headings = head.map((heading, place) => el("th", { scope: "col", className: place ? "number" : "" }, heading));
  $("table").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...headings)), body));
}

function examples(id, segments) {
  if (!segments.length) { $(id).replaceChildren(el("p", { className: "hint" }, "No segment.")); return; }
  $(id).replaceChildren(...segments.map(([number, difference]) => {
    const [doc, source] = data.segments[number];
    const article = el("article", { className: "example" },
      el("p", { className: "where" }, `line ${number + 1}`, ...(doc === null ? [] : [" of ", named(doc)]), `, ${signed(difference)} ${data.units[1]}`));
    if (source) article.append(labelled("source", source));
    const sides = [["A", state.a], ["B", state.b]].map(([label, system]) => [label, system, data.texts[`${number}.${system}`]]);
    const shared = sides[0][2][0] === sides[1][2][0];
    if (shared) article.append(context(sides[0][2][0]));
    for (const [label, system, [before, pieces]] of sides) {
      const text = el("p", { className: "text", dir: "auto" }, ...pieces.map(piece));
      const side = el("div", { className: "side" }, el("p", { className: "where" }, `${label}: `, named(data.systems[system])));
      if (!shared) side.append(context(before));
      side.append(text);
      article.append(side);
    }
    return article;
  }));
}

const context = (number) => (data.contexts[number] ? labelled("context", data.contexts[number]) : "");

function labelled(name, text) {
  return el("p", { className: `text ${name}` }, el("span", { className: "tag" }, name), el("bdi", {}, text));
}

function piece(part) {
  if (typeof part === "string") return part;
  const low = part[1] < DOUBTFUL;
  const title = `probability of being correct: ${part[1].toFixed(3)}${low ? `, doubtful (below ${DOUBTFUL})` : ""}`;
  const made = el("span", { className: low ? "p doubtful" : "p", title }, part[0], el("small", {}, part[1].toFixed(2)));
  made.style.setProperty("--s", scaled(part[1], DOUBTFUL));
  return made;
}

for (const id of ["a", "b"]) {
  $(id).append(...data.systems.map((name, number) => el("option", { value: String(number) }, name)));
  $(id).onchange = () => change({ [id]: Number($(id).value) });
}
$("swap").onclick = () => change({ a: state.b, b: state.a });
addEventListener("hashchange", () => { readAddress(); draw(); });
readAddress();
draw();
