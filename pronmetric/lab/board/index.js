
// Draws the table and the plots from the JSON in #data; the state of the page is in the fragment of its address.
//
// classes: groups of pronouns, the first is all of them.
// sets: {id, year, lp, use: what the checkpoint used it for, page: of its comparisons}.
// system: [index of its set, name, page, 1 for a human translation, human score or null, figures of each class].
// figures: [pronouns, score, low, high, cluster, best rank, worst rank], null if undefined; 0: no pronouns of this class in the set.
// Where missing pronouns are known, those of all pronouns have six more: [..., errors, low, high, wrong, missing, surplus]; surplus is null where it is among the wrong ones.

const data = JSON.parse($("data").textContent);
const SET = 0, NAME = 1, PAGE = 2, HUMAN = 3, PEOPLE = 4, FIGURES = 5;
const COUNT = 0, SCORE = 1, LOW = 2, HIGH = 3, CLUSTER = 4, BEST = 5, WORST = 6, ERRORS = 7, WRONG = 10, MISSING = 11, SURPLUS = 12;
const NONE = [0, null, null, null, null, null, null];
const hasHuman = data.systems.some((system) => system[PEOPLE] !== null);
const setOf = (system) => data.sets[system[SET]];
const keyOf = (system) => `${setOf(system).id}/${system[NAME]}`;
const byKey = new Map(data.systems.map((system) => [keyOf(system), system]));
const order = new Map([...data.sets.keys()].sort((a, b) => (data.sets[b].year || 0) - (data.sets[a].year || 0)
  || data.sets[a].id.localeCompare(data.sets[b].id)).map((number, place) => [number, place]));

const DEFAULTS = { set: "", year: "", lp: "", class: data.classes[0], q: "", sort: "set", desc: "", a: "", b: "" };
const state = { ...DEFAULTS };
const at = () => data.classes.indexOf(state.class);
const figuresOf = (system) => system[FIGURES][at()] || NONE;
const turned = (value) => (value === null ? null : 100 - value);
// Errors in 100 pronouns, and the ends of their interval.
const errorsOf = (system) => {
  const figures = figuresOf(system);
  return figures.length > ERRORS ? figures.slice(ERRORS, WRONG) : [SCORE, HIGH, LOW].map((key) => turned(figures[key]));
};
const apart = data.systems.some((system) => system[FIGURES].some((figures) => figures.length > ERRORS));
const told = data.systems.some((system) => system[FIGURES].some((figures) => (figures[SURPLUS] ?? null) !== null));
const KINDS = apart ? [["wrong", WRONG], ["missing", MISSING], ...(told ? [["surplus", SURPLUS]] : [])] : [];
const part = (key) => (system) => figuresOf(system)[key] ?? null;

// ---- the columns: [key, heading, value to sort by, larger first, cell]
const COLUMNS = [
  ["set", "test set", (s) => order.get(s[SET]), false, (s) => named(setOf(s).id)],
  ["system", "system", (s) => s[NAME].toLowerCase(), false, null],
  ["pronouns", "pronouns", (s) => figuresOf(s)[COUNT], true, (s) => figuresOf(s)[COUNT].toLocaleString("en")],
  ["score", "score", (s) => figuresOf(s)[SCORE], true, (s) => figure(figuresOf(s)[SCORE])],
  [null, "95 % interval", null, false, (s) => el("span", {}, mark(figuresOf(s)), span(figuresOf(s)[LOW], figuresOf(s)[HIGH]))],
  ["errors", "errors per 100", (s) => errorsOf(s)[0], false, (s) => figure(errorsOf(s)[0])],
  [null, "95 % interval", null, false, (s) => span(...errorsOf(s).slice(1))],
  ...KINDS.map(([name, key]) => [name, `${name} per 100`, part(key), false, (s) => figure(part(key)(s))]),
  ["cluster", "cluster", (s) => figuresOf(s)[CLUSTER], false, (s) => figure(figuresOf(s)[CLUSTER], 0)],
  ["ranks", "ranks", (s) => figuresOf(s)[BEST], false, (s) => (figuresOf(s)[BEST] === null ? "–" : `${figuresOf(s)[BEST]}–${figuresOf(s)[WORST]}`)],
  ...(hasHuman ? [["human", "human score", (s) => s[PEOPLE], true, (s) => figure(s[PEOPLE], 3)]] : []),
];

// ---- state and address

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(DEFAULTS)) state[key] = given.get(key) || DEFAULTS[key];
  if (!data.classes.includes(state.class)) state.class = DEFAULTS.class;
  if (!COLUMNS.some(([key]) => key === state.sort)) state.sort = DEFAULTS.sort;
  for (const key of ["a", "b"]) if (!byKey.has(state[key])) state[key] = "";
  if (!state.a) [state.a, state.b] = [state.b, ""];
}

function writeAddress() {
  const kept = new URLSearchParams(Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]));
  if (`#${kept}` !== (location.hash || "#")) history.replaceState(null, "", `#${kept}`);
}

function change(changes) {
  Object.assign(state, changes);
  writeAddress();
  draw();
}

// ---- which systems, in which order

function shown() {
  const words = state.q.toLowerCase();
  return data.systems.filter((system) => {
    const set = setOf(system);
    return (!state.set || set.id === state.set) && (!state.year || String(set.year) === state.year)
      && (!state.lp || set.lp === state.lp) && system[NAME].toLowerCase().includes(words);
  });
}

function sorted(systems) {
  const [, , value, largeFirst] = COLUMNS.find(([key]) => key === state.sort);
  const turn = (largeFirst ? -1 : 1) * (state.desc ? -1 : 1);
  const score = (system) => figuresOf(system)[SCORE] ?? -Infinity;
  return [...systems].sort((a, b) => {
    const x = value(a), y = value(b);
    if (x === null || y === null) return (x === null) - (y === null); // unknown last, whatever the direction
    return turn * (x < y ? -1 : x > y ? 1 : 0) || order.get(a[SET]) - order.get(b[SET]) || score(b) - score(a);
  });
}

// ---- the table

let axis = [0, 100];  // of the marks: the scores and intervals that are shown

function setAxis(rows) {
  const values = rows.flatMap((system) => figuresOf(system).slice(SCORE, HIGH + 1)).filter((value) => value !== null);
  const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
  axis = low < high ? [low, high] : [0, 100];
}

// The interval of a score as a line with a dot at the score; the figures stand beside it.
function mark(figures) {
  const [score, low, high] = figures.slice(SCORE, HIGH + 1);
  if (score === null || low === null) return "";
  const x = (value) => (5 + (86 * (value - axis[0])) / (axis[1] - axis[0])).toFixed(1);
  return svg("svg", { class: "mark", width: 96, height: 12, "aria-hidden": "true" },
    svg("line", { x1: x(low), x2: x(high), y1: 6, y2: 6 }), svg("circle", { cx: x(score), cy: 6, r: 3.5 }));
}

function draw() {
  const rows = sorted(shown());
  setAxis(rows);
  for (const [id, key] of [["set", "set"], ["year", "year"], ["lp", "lp"], ["class", "class"]]) $(id).value = state[key];
  if ($("search").value !== state.q) $("search").value = state.q;
  const sets = new Set(rows.map((system) => system[SET]));
  $("found").textContent = `${rows.length} of ${data.systems.length} systems, ${sets.size} of ${data.sets.length} test sets`;
  const active = document.activeElement && document.activeElement.dataset.key;
  const body = el("tbody");
  rows.forEach((system, place) => body.append(row(system, rows[place - 1])));
  $("table").setAttribute("aria-label", `Systems, ${classLabel(state.class)}`);
  $("table").replaceChildren(el("table", {}, el("thead", {}, head()), body));
  if (active) document.querySelector(`[data-key="${CSS.escape(active)}"]`)?.focus({ preventScroll: true });
  drawPicked();
  drawYears(rows);
}

function head() {
  const cells = COLUMNS.map(([key, heading], place) => {
    const cell = el("th", { scope: "col", className: place > 1 ? "number" : "" });
    if (!key) { cell.append(heading); return cell; }
    const down = COLUMNS[place][3] !== Boolean(state.desc);
    if (state.sort === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const button = el("button", { type: "button" }, `${heading}${state.sort === key ? (down ? " ▾" : " ▴") : ""}`);
    button.dataset.key = `sort ${key}`;
    button.onclick = () => change(state.sort === key ? { desc: state.desc ? "" : "1" } : { sort: key, desc: "" });
    cell.append(button);
    return cell;
  });
  return el("tr", {}, el("th", { scope: "col", className: "tool" }, "compare"), ...cells);
}

function row(system, before) {
  const made = el("tr");
  const key = keyOf(system);
  if (state.sort === "set" && !state.desc && before) {
    if (before[SET] !== system[SET]) made.className = "first";
    else if (figuresOf(before)[CLUSTER] !== figuresOf(system)[CLUSTER]) made.className = "cluster";
  }
  const picked = key === state.a || key === state.b;
  if (picked) made.classList.add("chosen");
  const box = el("input", { type: "checkbox", checked: picked, "aria-label": `Compare ${system[NAME]}, ${setOf(system).id}` });
  box.dataset.key = `pick ${key}`;
  box.onchange = () => pick(key, box.checked);
  made.append(el("td", { className: "tool" }, box));
  COLUMNS.forEach(([name, , , , cell], place) => {
    if (name === "system") {
      const link = el("a", { href: system[PAGE] }, named(system[NAME]));
      made.append(el("th", { scope: "row" }, link, ...(system[HUMAN] ? [" ", el("span", { className: "tag" }, "(human)")] : [])));
    } else made.append(el("td", { className: place > 1 ? "number" : "" }, cell(system)));
  });
  return made;
}

// ---- comparing two systems

function pick(key, on) {
  let chosen = [state.a, state.b].filter((one) => one && one !== key);
  if (on) chosen = [...chosen.slice(-1), key];
  change({ a: chosen[0] || "", b: chosen[1] || "" });
}

function drawPicked() {
  const place = $("picked");
  const chosen = [state.a, state.b].map((key) => byKey.get(key)).filter(Boolean);
  const said = (system) => [named(system[NAME]), ` ${figure(figuresOf(system)[SCORE])} (${span(figuresOf(system)[LOW], figuresOf(system)[HIGH])}, `, named(setOf(system).id), ")"];
  if (!chosen.length) { place.replaceChildren("Tick two systems to compare them."); return; }
  if (chosen.length === 1) { place.replaceChildren(...said(chosen[0]), ". Tick a second system to compare it with."); return; }
  const [a, b] = chosen;
  const line = [...said(a), " and ", ...said(b), ": "];
  if (a[SET] !== b[SET]) { place.replaceChildren(...line, "different test sets are different texts, so there is no test of the difference."); return; }
  const address = new URLSearchParams({ a: a[NAME], b: b[NAME] });
  place.replaceChildren(...line, el("a", { id: "compare", href: `${setOf(a).page}#${address}` }, "compare these two"));
}

// ---- plots

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, properties, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function median(values) {
  const list = [...values].sort((a, b) => a - b);
  const middle = list.length >> 1;
  return list.length % 2 ? list[middle] : (list[middle - 1] + list[middle]) / 2;
}

function steps(low, high) {
  const rough = (high - low || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((one) => one >= rough * 0.75);
  const first = Math.floor(low / step), last = Math.ceil(high / step);
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, k) => Number(((first + k) * step).toFixed(9)));
}

function drawYears(rows) {
  const known = rows.filter((system) => setOf(system).year !== null && figuresOf(system)[SCORE] !== null);
  const years = [...new Set(known.map((system) => setOf(system).year))].sort();
  const pairs = [...new Set(known.map((system) => setOf(system).lp))].sort();
  if (!known.length) { $("years").replaceChildren(el("p", { className: "hint" }, "No test set with a year is shown.")); return; }
  const scores = known.map((system) => figuresOf(system)[SCORE]);
  const ticks = steps(Math.min(...scores), Math.max(...scores));
  $("years").replaceChildren(...pairs.map((lp) => panel(lp, known.filter((system) => setOf(system).lp === lp), years, ticks)));
}

function panel(lp, systems, years, ticks) {
  const width = 260, height = 170, left = 34, bottom = 22, top = 8;
  const low = ticks[0], high = ticks[ticks.length - 1];
  const x = (year) => left + ((years.indexOf(year) + 0.5) * (width - left)) / years.length;
  const y = (score) => top + ((high - score) / (high - low)) * (height - top - bottom);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const tick of ticks) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 4, y: y(tick) + 4, "text-anchor": "end" }, String(tick)));
  }
  const said = [], last = new Map();
  for (const year of years) {
    picture.append(svg("text", { x: x(year), y: height - 6, "text-anchor": "middle" }, String(year)));
    const own = systems.filter((system) => setOf(system).year === year);
    if (!own.length) continue;
    const middle = median(own.map((system) => figuresOf(system)[SCORE]));
    for (const system of own) {
      const point = [x(year), y(figuresOf(system)[SCORE])];
      const before = last.get(system[NAME]);
      if (before) picture.append(svg("line", { class: "join", x1: before[0], y1: before[1], x2: point[0], y2: point[1] }));
      last.set(system[NAME], point);
    }
    picture.append(svg("line", { class: "median", x1: x(year) - 14, x2: x(year) + 14, y1: y(middle), y2: y(middle) }));
    for (const system of own) {
      const found = figuresOf(system);
      const dot = svg("circle", { class: found[CLUSTER] === 1 ? "dot top1" : "dot", cx: x(year), cy: y(found[SCORE]), r: 3.5 });
      dot.append(svg("title", {}, `${system[NAME]}, ${setOf(system).id}: ${figure(found[SCORE])}`));
      picture.append(dot);
    }
    const best = own.reduce((a, b) => (figuresOf(a)[SCORE] >= figuresOf(b)[SCORE] ? a : b));
    said.push(`${year}: median ${middle.toFixed(2)}, best ${best[NAME]} ${figure(figuresOf(best)[SCORE])}`);
  }
  picture.setAttribute("aria-label", `${lp}. ${said.join("; ")}`);
  const button = el("button", { type: "button", className: "download" }, "↓ SVG");
  button.setAttribute("aria-label", `↓ SVG: download the plot of ${lp}`);
  button.onclick = () => saveFile(`years.${lp}.svg`, svgFile(picture, width, height));
  return el("figure", {}, el("figcaption", {}, named(lp), " ", button), picture);
}

// A plot as a file of its own, in the light colours of theme.css.
const FILE_STYLE = "text{font:11px sans-serif;fill:#565d66}.grid{stroke:#d5d9df;stroke-dasharray:2 3}.join{stroke:#767d87}"
  + ".median{stroke:#1a1d21;stroke-width:2.5}.dot{fill:#ffffff;stroke:#0b57d0;stroke-width:1.5}.dot.top1{fill:#0b57d0}";
function svgFile(picture, width, height) {
  const copy = picture.cloneNode(true);
  for (const [key, value] of Object.entries({ width, height })) copy.setAttribute(key, value);
  copy.prepend(svg("style", {}, FILE_STYLE));
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

// ---- download of the rows shown

$("save").onclick = () => {
  const heading = ["testset", "year", "lp", "system", "class", "pronouns", "score", "score_low", "score_high", "errors_per_100_pronouns", "cluster", "rank_best", "rank_worst", "human",
    ...KINDS.map(([name]) => `expected_${name}_per_100_pronouns`)];
  const lines = sorted(shown()).map((system) => {
    const set = setOf(system), found = figuresOf(system);
    const errors = errorsOf(system)[0] === null ? null : Number(errorsOf(system)[0].toFixed(3));
    const more = KINDS.map(([, key]) => part(key)(system));
    return [set.id, set.year, set.lp, system[NAME], state.class, ...found.slice(0, CLUSTER), errors, ...found.slice(CLUSTER, ERRORS), system[PEOPLE], ...more];
  });
  saveFile("board-rows.tsv", [heading, ...lines].map(tsvLine).join(""));
};

// ---- start

function fill(id, everything, values, label = (value) => value) {
  const options = values.map((value) => el("option", { value }, label(value)));
  $(id).replaceChildren(...(everything ? [el("option", { value: "" }, everything)] : []), ...options);
  $(id).onchange = () => change({ [id]: $(id).value });
}

const bySet = [...data.sets.keys()].sort((a, b) => order.get(a) - order.get(b)).map((number) => data.sets[number]);
fill("set", "all", bySet.map((set) => set.id));
fill("year", "all", [...new Set(bySet.filter((set) => set.year !== null).map((set) => String(set.year)))]);
fill("lp", "all", [...new Set(bySet.map((set) => set.lp))].sort());
fill("class", null, data.classes, classLabel);
$("search").oninput = () => change({ q: $("search").value });
$("clear").onclick = () => change({ ...DEFAULTS, a: state.a, b: state.b, sort: state.sort, desc: state.desc });
$("skip").onclick = (event) => { event.preventDefault(); $("table").focus(); };
addEventListener("hashchange", () => { readAddress(); draw(); });
readAddress();
draw();
