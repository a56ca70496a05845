
// Draws the confusion matrix and the segments from the JSON in #data. Strings of the data are inserted as text nodes only.
//
// systems: [short name, full name].
// strings: each a list of pieces, a word with the white space before it; words are counted from 0, and the last piece
// is the text after the last word.
// by: what decides, score, errors or preference; unit: of the differences.
// segment: [number, doc, source, reference, outputs, best, gap, places], the three strings by index (-1: none), sorted by gap.
// best: the systems that are best by the decision of the result; []: a tie; null: nothing was compared. gap: the largest
// difference between two systems, in the unit of what decides.
// places: where each output stands in its file, such as "cue 3, 00:00:05, line 12", null for a line of a list; only where one says it.
// output: [context, text, score, pronouns, links, what decides (null if it is the score), errors, gaps]; the last three only where they are known.
// errors: [wrong, missing, surplus], the last null where it is among the wrong ones; gap: [word after it, likely form, probability that one is missing there]. pronoun: [word, score, attention, others, evidence, surplus, genders]; attention and
// others only if the model was run; others is null if no alternative was scored. evidence: [source word, log-odds, where the word begins], null if the source does not count. surplus: the probability that the pronoun should not be there, only if it is told. genders: [that of the pronoun, and for each of the words that it attends to most with a known one: the word of context and text, its gender], only if the pronoun has one. attention: [largest weight, a letter for each word of context and text]; others: [form, score].
// genders: in words. forms, classes: of the pronouns; filtered: for each segment and output the form and the class of each pronoun, by index.
// files: what can be downloaded, by name and suffix.
// link: [kind, word of the reference, its form, word of the text, its form], -1 and "" for none.

const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 20;
const NUMBER = 0, DOC = 1, SOURCE = 2, REFERENCE = 3, OUTPUTS = 4, BEST = 5, GAP = 6, PLACES = 7;
const CONTEXT = 0, TEXT = 1, SCORE = 2, PRONOUNS = 3, LINKS = 4, DECIDES = 5, ERRORS = 6, GAPS = 7;
const SLACK = 10; // pixels that a table may be wider than its box without hiding anything: the padding of its last cell
const [SAME, PRONOUN, WORD, NOTHING, ADDED] = data.kinds.keys();
const NO_WORD = "(nothing)", OTHER_WORD = "(other word)";

const state = { from: 0, to: 0, found: [], cell: null, attention: true };

// Lines are numbered from 1, as in all that people read; files of results number segments from 0.
const lineOf = (segment) => segment[NUMBER] + 1;

// A system's short name, isolated from the direction of the text around it, with the full name as its title.
const systemName = (at) => el("bdi", { title: data.systems[at][1] }, data.systems[at][0]);
const language = { lang: data.lang };
const sourceLanguage = data.sourceLang ? { lang: data.sourceLang } : {};
const whole = (string) => (string < 0 ? "" : data.strings[string].join(""));
const wordsOf = (string) => data.strings[string].slice(0, -1);

// Where the outputs of a segment stand in their files: once if that is the same for all.
function placesOf(segment) {
  const places = segment[PLACES] || [];
  if (new Set(places).size === 1) return places.slice(0, 1);
  return places.map((place, at) => place && `${data.systems[at][0]}: ${place}`).filter(Boolean);
}

const shown = (score) => (score === null ? "no pronouns" : score.toFixed(2));
const doubtful = (score) => data.doubtful !== null && score < data.doubtful;
const formLabel = (form) => (form === "i" ? "I" : form);
const rowOf = (link) => link[2] || NO_WORD;
const columnOf = (link) => (link[0] === WORD ? OTHER_WORD : link[4] || NO_WORD);

// Where a score stands on its part of the colour scale, from 0 to 1: below or above the threshold of doubt.
function share(score) {
  const [low, high] = data.range;
  if (data.doubtful === null) return (score - low) / (high - low || 1);
  return scaled(score, data.doubtful);
}

// ---- texts

// Writes a string into `parent`, piece by piece; `dress` returns a word's element or null, `before` what stands before a word.
function write(parent, string, dress, before = () => null) {
  let plain = "";
  const flush = () => { if (plain) parent.append(plain); plain = ""; };
  const last = data.strings[string].length - 1;
  data.strings[string].forEach((piece, at) => {
    const word = piece.trimStart() || piece;
    const made = at < last ? dress(at, word) : null;
    const mark = at < last ? before(at) : null;
    if (!made && !mark) { plain += piece; return; }
    plain += piece.slice(0, piece.length - word.length);
    flush();
    if (mark) parent.append(mark, "\u2009");
    if (made) parent.append(made);
    else plain = word;
  });
  flush();
}

function heated(weight, top, word) {
  const made = el("span", { className: "w", title: `attention ${percent(weight)}` }, word);
  made.style.setProperty("--a", top ? (weight / top).toFixed(3) : 0);
  return made;
}

const gapsOf = (output) => output[GAPS] || [];

// The sign of a place where a pronoun is likely missing, with the likely form.
function gapSign([, form, probability]) {
  const sure = doubtful(1 - probability);
  const title = `a pronoun is missing here with probability ${probability.toFixed(3)}; likely form: ${formLabel(form)}`;
  const made = el("span", { className: sure ? "gap doubtful" : "gap", title }, `‸${formLabel(form)}`, el("small", {}, brief(probability)));
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", title);
  return made;
}

// Expected errors of a text in words, together and apart; "" where the missing pronouns are not known.
function errorsOf(output) {
  if (!output[ERRORS] || output[ERRORS][0] === null) return "";
  return `${sumOf(output[ERRORS]).toFixed(2)} errors: ${kindsOfErrors(...output[ERRORS])}`;
}

const percent = (weight) => `${(100 * weight).toFixed(weight < 0.1 ? 1 : 0)} %`;

// The weights of a pronoun over the words of its context, then of its text.
function weightsOf(pronoun) {
  if (!pronoun || !pronoun[2]) return null;
  const [top, letters] = pronoun[2];
  return { top, at: (word) => (word < letters.length ? (data.levels.indexOf(letters[word]) / (data.levels.length - 1)) * top : 0) };
}

// ---- a segment

function lowestPronoun(segment) {
  let best = null;
  segment[OUTPUTS].forEach((output, system) => output[PRONOUNS].forEach((pronoun, index) => {
    if (pronoun[2] && (!best || pronoun[1] < best.score)) best = { system, index, score: pronoun[1] };
  }));
  return best;
}

function draw(place) {
  const segment = data.segments[place];
  const outputs = segment[OUTPUTS];
  const shared = outputs.every((output) => output[CONTEXT] === outputs[0][CONTEXT]);
  const article = el("article", { id: `l${lineOf(segment)}`, tabIndex: -1 });
  article.setAttribute("aria-label", `Line ${lineOf(segment)}`);
  article.append(el("header", {},
    el("h3", {}, el("a", { href: `#l${lineOf(segment)}` }, `Line ${lineOf(segment)}`)),
    el("bdi", { className: "doc" }, segment[DOC] < 0 ? "" : data.docs[segment[DOC]]),
    ...placesOf(segment).map((place) => el("bdi", { className: "doc place" }, place)),
    ...badge(segment), tools(segment)));
  const contexts = [];
  const context = (parent, string) => {
    if (!whole(string)) return null;
    const text = el("bdi", language);
    parent.append(el("p", { className: "context" }, el("span", { className: "label" }, "context"), text));
    return text;
  };
  const source = el("bdi", sourceLanguage);
  if (segment[SOURCE] >= 0) article.append(el("p", { className: "source" }, el("span", { className: "label" }, "source"), source));
  const common = shared ? context(article, outputs[0][CONTEXT]) : null;
  if (segment[REFERENCE] >= 0) {
    const marked = new Set(outputs.flatMap((output) => output[LINKS].map((link) => link[1])));
    const text = el("bdi", language);
    write(text, segment[REFERENCE], (at, word) => (marked.has(at) ? el("mark", {}, word) : null));
    article.append(el("p", { className: "reference" }, el("span", { className: "label" }, "reference"), text));
  }
  const parts = outputs.map((output, system) => {
    const section = el("section", { className: "output" });
    const errors = errorsOf(output);
    const decides = output[DECIDES] === undefined || output[DECIDES] === null || (errors && data.by === "errors") ? []
      : [el("span", { className: "label" }, `${data.by} ${output[DECIDES].toFixed(2)}`)];
    if (errors) decides.push(el("span", { className: "label" }, errors));
    section.append(el("h4", {}, systemName(system), el("b", {}, shown(output[SCORE])), ...decides));
    const own = shared ? common : context(section, output[CONTEXT]);
    const text = el("p", { className: "text", dir: "auto", ...language });
    const advice = el("div", { className: "advice" });
    section.append(text, advice);
    article.append(section);
    contexts.push(own);
    return { text, advice, output };
  });
  const chosen = lowestPronoun(segment);
  const select = (system, index) => {
    show(system < 0 ? null : { system, index });
  };
  const show = (one) => {
    paint(segment, parts, contexts, shared, one, select);
    if (segment[SOURCE] >= 0) writeSource(source, segment, one);
  };
  show(state.attention ? chosen : null);
  return article;
}

// Writes the source, with a mark on the word that decides about the chosen pronoun.
function writeSource(parent, segment, chosen) {
  const text = whole(segment[SOURCE]);
  const [word, , start] = (chosen && segment[OUTPUTS][chosen.system][PRONOUNS][chosen.index][4]) || ["", 0, -1];
  const at = text.startsWith(word, start) ? start : text.indexOf(word);
  if (!word || at < 0) parent.replaceChildren(text);
  else parent.replaceChildren(text.slice(0, at), el("mark", {}, word), text.slice(at + word.length));
}

// Rewrites texts and contexts with the attention of the chosen pronoun as a heat map.
function paint(segment, parts, contexts, shared, chosen, select) {
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
  parts.forEach(({ text, advice, output }, system) => {
    const mine = chosen && chosen.system === system ? output[PRONOUNS][chosen.index] : null;
    const weights = weightsOf(mine);
    const shift = wordsOf(output[CONTEXT]).length;
    const byWord = new Map(output[PRONOUNS].map((pronoun, index) => [pronoun[0], index]));
    const gaps = new Map(gapsOf(output).map((gap) => [gap[0], gap]));
    const heat = (from) => (at, word) => {
      const weight = weights ? weights.at(from + at) : 0;
      return weight > weights.top / 50 ? heated(weight, weights.top, word) : null;
    };
    if (contexts[system] && (!shared || system === (chosen ? chosen.system : 0))) {
      contexts[system].replaceChildren();
      write(contexts[system], output[CONTEXT], weights ? heat(0) : () => null);
    }
    text.replaceChildren();
    write(text, output[TEXT], (at, word) => {
      if (!byWord.has(at)) return weights ? heat(shift)(at, word) : null;
      const index = byWord.get(at);
      const pronoun = output[PRONOUNS][index];
      const pressed = mine === pronoun;
      const button = el("button", { className: doubtful(pronoun[1]) ? "p doubtful" : "p", type: "button", title: titleOf(pronoun) }, word, el("small", {}, brief(pronoun[1])));
      button.style.setProperty("--s", share(pronoun[1]).toFixed(3));
      button.dataset.key = `${segment[NUMBER]} ${system} ${index}`;
      button.setAttribute("aria-pressed", pressed);
      button.onclick = () => select(pressed ? -1 : system, index);
      return button;
    }, (at) => (gaps.has(at) ? gapSign(gaps.get(at)) : null));
    advice.replaceChildren(...advised(output, mine, weights, shift));
  });
  const again = active && document.querySelector(`[data-key="${CSS.escape(active)}"]`);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
}

const brief = (score) => (data.probability ? score.toFixed(2).replace(/^0/, "") : score.toFixed(2));
const surplusOf = (probability) => (probability == null ? "" : `; of being surplus: ${probability.toFixed(3)}`);
const titleOf = (pronoun) => (data.probability
  ? `probability of being correct: ${pronoun[1].toFixed(3)}${doubtful(pronoun[1]) ? `, doubtful (below ${data.doubtful})` : ""}${surplusOf(pronoun[5])}`
  : `score ${pronoun[1].toFixed(3)}`);

// The lines below an output: reference pronouns, preferred forms, attention of the chosen pronoun.
function advised(output, mine, weights, shift) {
  const lines = [];
  const link = (word) => output[LINKS].find((item) => item[3] === word);
  const spelled = (word) => data.strings[output[TEXT]][word].trim();
  for (const pronoun of output[PRONOUNS]) {
    const [word, score, , others, evidence] = pronoun;
    const at = link(word);
    const preferred = others && others.length && (!data.probability || doubtful(score));
    const differs = at && at[0] !== SAME;
    const against = evidence && evidence[1] <= -1;
    if (pronoun !== mine && !preferred && !differs && !against) continue;
    const line = el("div", {}, el("b", {}, `“${spelled(word)}” ${shown(score)}`));
    if (at) line.append(at[0] === ADDED ? "; the reference has no pronoun here" : `; reference: “${formLabel(at[2])}”`);
    if (evidence && (evidence[0] || Math.abs(evidence[1]) >= 1)) {
      const verdict = Math.abs(evidence[1]) < 1 ? "says little about" : evidence[1] > 0 ? "supports" : "contradicts";
      line.append(`; the source ${evidence[0] ? `(“${evidence[0]}”) ` : ""}${verdict} it`);
    }
    if (others && (preferred || pronoun === mine)) {
      const forms = others.map(([form, value]) => `“${formLabel(form)}” ${shown(value)}`).join(", ");
      line.append(others.length ? `; more probable: ${forms}` : "; no other form is more probable here");
    }
    lines.push(line);
  }
  for (const item of output[LINKS]) {
    if (item[0] === NOTHING) lines.push(el("div", {}, `reference: “${formLabel(item[2])}”; no counterpart here`));
    if (item[0] === WORD) lines.push(el("div", {}, `reference: “${formLabel(item[2])}”; here “${item[4]}”`));
  }
  if (weights) lines.push(el("div", { className: "looks" }, looksAt(output, mine, weights, shift)));
  return lines;
}

function looksAt(output, pronoun, weights, shift) {
  const words = [...wordsOf(output[CONTEXT]), ...wordsOf(output[TEXT])];
  const [own, ...pairs] = pronoun[6] || [];
  const genders = new Map();
  for (let at = 0; at < pairs.length; at += 2) genders.set(pairs[at], data.genders[pairs[at + 1]]);
  const ranked = words.map((piece, at) => [piece.trim(), weights.at(at), genders.get(at)]).filter(([word]) => /[\p{L}\p{N}]/u.test(word));
  ranked.sort((a, b) => b[1] - a[1]);
  const seen = ranked.slice(0, 5).filter(([, weight], at) => !at || weight >= 0.01);
  const told = seen.map(([word, weight, gender]) => `${word}${bracketed(gender)} ${percent(weight)}`).join(", ");
  return `“${words[shift + pronoun[0]].trim()}”${bracketed(data.genders[own])} attends to: ${told}`;
}

// Buttons that copy the address of a segment, and its texts.
function tools(segment) {
  const button = (text, label, copied) => {
    const made = el("button", { className: "tool", type: "button" }, text);
    made.setAttribute("aria-label", `${label} of line ${lineOf(segment)}`);
    made.onclick = async () => {
      made.textContent = (await copy(copied())) ? "copied" : "not copied";
      setTimeout(() => { made.textContent = text; }, 1500);
    };
    return made;
  };
  const address = () => `${location.href.split("#")[0]}#l${lineOf(segment)}`;
  return el("span", { className: "tools" }, button("copy link", "Copy link", address), " ",
    button("copy text", "Copy text", () => plain(segment)));
}

async function copy(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* no permission, or no such interface */ }
  const field = el("textarea", { value: text });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

// A segment as lines of text, a pronoun with its score after it.
function plain(segment) {
  const lines = [`line ${lineOf(segment)}${segment[DOC] < 0 ? "" : ` (${data.docs[segment[DOC]]})`}`];
  lines.push(...placesOf(segment));
  if (segment[SOURCE] >= 0) lines.push(`source: ${whole(segment[SOURCE])}`);
  if (segment[REFERENCE] >= 0) lines.push(`reference: ${whole(segment[REFERENCE])}`);
  segment[OUTPUTS].forEach((output, system) => {
    const scores = new Map(output[PRONOUNS].map((pronoun) => [pronoun[0], pronoun[1]]));
    const gaps = new Map(gapsOf(output).map((gap) => [gap[0], gap]));
    const sign = (at) => (gaps.has(at) ? ` [missing: ${formLabel(gaps.get(at)[1])} ${gaps.get(at)[2].toFixed(2)}]` : "");
    const pieces = data.strings[output[TEXT]].map((piece, at) => sign(at) + (scores.has(at) ? `${piece} [${shown(scores.get(at))}]` : piece));
    const errors = errorsOf(output);
    if (whole(output[CONTEXT])) lines.push(`context: ${whole(output[CONTEXT])}`);
    lines.push(`${data.systems[system][0]} (${shown(output[SCORE])}${errors && `; ${errors}`}): ${pieces.join("")}`);
  });
  return lines.join("\n");
}

// ---- downloads

const LABELS = { tsv: "TSV", tex: "LaTeX", svg: "SVG" };
function downloads() {
  for (const place of document.querySelectorAll("[data-files]")) {
    const name = place.dataset.files;
    for (const [suffix, text] of Object.entries(data.files[name] || {})) {
      const button = el("button", { className: "tool", type: "button" }, `↓ ${LABELS[suffix]}`);
      button.setAttribute("aria-label", `Download the ${name === "chart" ? "chart" : `table of ${name}`} as ${LABELS[suffix]}`);
      button.onclick = () => saveFile(`${name}.${suffix}`, text);
      place.append(button);
    }
  }
}

// ---- filtering and sorting segments

// Whether a segment has a pronoun in the chosen system, of the chosen form and class, with a score below the chosen one.
function hasPronoun(place) {
  const [system, form, kind, below] = ["system", "form", "class", "below"].map((id) => $(id).value);
  if (!system && !form && !kind && !below) return true;
  return data.segments[place][OUTPUTS].some((output, at) => (!system || Number(system) === at)
    && output[PRONOUNS].some((pronoun, k) => (!form || Number(form) === data.filtered[place][at][2 * k])
      && (!kind || Number(kind) === data.filtered[place][at][2 * k + 1]) && (!below || pronoun[1] < Number(below))));
}

// The filters that the address keeps, after the segment: #l12?form=he&below=0.7. Forms and classes are kept by name.
const KEPT = ["search", "sort", "better", "system", "form", "class", "below"];
const NAMED = { form: data.forms, class: data.classes };
function keep() {
  const kept = new URLSearchParams();
  for (const id of KEPT) {
    const value = $(id).value;
    if (value && value !== initial[id]) kept.set(id, NAMED[id] ? NAMED[id][value] : value);
  }
  const at = /^#l\d+/.exec(location.hash);
  const made = `${at ? at[0] : "#"}${kept.size ? `?${kept}` : ""}`;
  if (made !== (location.hash || "#")) history.replaceState(null, "", made);
}

function restore() {
  const given = new URLSearchParams(location.hash.split("?")[1] || "");
  for (const id of KEPT) {
    const value = given.get(id);
    const known = NAMED[id] && value !== null ? String(NAMED[id].indexOf(value)) : value;
    const fits = !$(id).options || [...$(id).options].some((option) => option.value === known);
    if (known !== null) $(id).value = fits ? known : initial[id];
    else $(id).value = initial[id];
  }
}
const initial = {};

// What the result's decision says about a segment, by what it decides, and the largest difference.
function badge(segment) {
  const best = segment[BEST];
  if (best === null) return [];
  const parts = best.length ? ["better by ", data.by, ": ", ...best.flatMap((at, k) => (k ? [", ", systemName(at)] : [systemName(at)]))] : ["tie by ", data.by];
  const title = `${segment[OUTPUTS].length > 2 ? "largest difference" : "difference"} ${segment[GAP].toFixed(4)} (${data.unit})`;
  return [el("span", { className: "badge", title }, ...parts, best.length ? ` (${segment[GAP].toFixed(2)})` : "")];
}

function isBetter(segment, wanted) {
  const best = segment[BEST];
  if (wanted === "none") return best === null;
  return best !== null && (wanted === "tie" ? !best.length : best.includes(Number(wanted)));
}

const haystacks = [];
function haystack(place) {
  if (!haystacks[place]) {
    const segment = data.segments[place];
    const texts = [segment[SOURCE], segment[REFERENCE], ...segment[OUTPUTS].flatMap((o) => [o[TEXT], o[CONTEXT]])];
    const doc = segment[DOC] < 0 ? "" : data.docs[segment[DOC]];
    haystacks[place] = [`#${lineOf(segment)}`, doc, ...placesOf(segment), ...new Set(texts.map(whole))].join("\n").toLowerCase();
  }
  return haystacks[place];
}

function holds(place, words) {
  const number = lineOf(data.segments[place]);
  return words.every((word) => (/^#\d+$/.test(word) ? word === `#${number}` : haystack(place).includes(word)));
}

function inCell(place) {
  const { system, row, column } = state.cell;
  return data.segments[place][OUTPUTS][system][LINKS].some((link) => rowOf(link) === row && columnOf(link) === column);
}

const lowest = (segment) => Math.min(...segment[OUTPUTS].flatMap((o) => o[PRONOUNS].map((p) => p[1])), Infinity);
const wrong = (segment) => segment[OUTPUTS].reduce((sum, o) => sum + o[LINKS].filter((link) => link[0] !== SAME).length, 0);
const mostErrors = (segment) => Math.max(...segment[OUTPUTS].map((o) => (errorsOf(o) ? sumOf(o[ERRORS]) : 0)));
const ORDERS = {
  gap: () => 0, // the order of the data
  lowest: (a, b) => lowest(a) - lowest(b),
  wrong: (a, b) => wrong(b) - wrong(a),
  errors: (a, b) => mostErrors(b) - mostErrors(a),
  order: (a, b) => a[NUMBER] - b[NUMBER],
  doc: (a, b) => a[DOC] - b[DOC] || a[NUMBER] - b[NUMBER],
};

function choose() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const better = $("better").value;
  const order = ORDERS[$("sort").value];
  state.found = [...data.segments.keys()].filter((place) => holds(place, words)
    && (better === "" || isBetter(data.segments[place], better)) && (!state.cell || inCell(place)) && hasPronoun(place));
  state.found.sort((a, b) => order(data.segments[a], data.segments[b]) || a - b);
  state.from = state.to = 0;
  $("list").replaceChildren();
  extend(PAGE);
  told();
  keep();
}

function told() {
  const left = data.total - data.differing;
  const cut = data.differing - data.segments.length;
  const parts = [`${state.found.length} of ${data.segments.length} listed lines shown`];
  if (left) parts.push(`${left} of all ${data.total} lines do not differ`);
  if (cut) parts.push(`${cut} with smaller differences left out by --limit`);
  $("found").textContent = `${parts.join("; ")}.`;
  const filters = [];
  if (state.cell) filters.push(`“${formLabel(state.cell.column)}” for “${formLabel(state.cell.row)}” in \u2068${data.systems[state.cell.system][0]}\u2069`);
  if ($("search").value) filters.push(`search “${$("search").value}”`);
  if ($("better").value !== "") filters.push(`better system: ${$("better").selectedOptions[0].text}`);
  for (const [id, label] of [["system", "pronoun in"], ["form", "form"], ["class", "class"]]) {
    if ($(id).value !== "") filters.push(`${label} ${$(id).selectedOptions[0].text}`);
  }
  if ($("below").value !== "") filters.push(`score below ${$("below").value}`);
  $("clear").hidden = !filters.length;
  $("clear").textContent = `✕ ${filters.join(", ")}`;
}

function extend(count) {
  const end = Math.min(state.to + count, state.found.length);
  $("list").append(...state.found.slice(state.to, end).map(draw));
  state.to = end;
  buttons();
}

function retract(count) {
  const begin = Math.max(0, state.from - count);
  $("list").prepend(...state.found.slice(begin, state.from).map(draw));
  state.from = begin;
  buttons();
}

function buttons() {
  $("more").hidden = state.to >= state.found.length;
  $("earlier").hidden = state.from <= 0;
}

function clear() {
  for (const id of KEPT) if (id !== "sort") $(id).value = "";
  state.cell = null;
  matrix();
  choose();
}

// Shows the segment named in the address; clears the filters if they hide it.
function follow() {
  const match = /^#l(\d+)(\?|$)/.exec(location.hash);
  if (!match) return;
  const number = Number(match[1]);
  const place = data.segments.findIndex((segment) => lineOf(segment) === number);
  if (place < 0) {
    $("found").textContent = `Line ${number} is not listed: it does not differ, or --limit left it out.`;
    $("segments").scrollIntoView();
    return;
  }
  if (!state.found.includes(place)) clear();
  if (!$(`l${number}`)) {
    state.from = state.to = state.found.indexOf(place);
    $("list").replaceChildren();
    extend(PAGE);
  }
  const article = $(`l${number}`);
  article.scrollIntoView();
  article.focus({ preventScroll: true });
}

// ---- the confusion matrix

// The forms of these cells, most frequent first: one order for rows and columns, so that there is a diagonal.
function inOrder(cells) {
  const found = new Map();
  for (const { row, column, count } of cells) for (const name of [row, column]) found.set(name, (found.get(name) || 0) + count);
  const last = (name) => (name.startsWith("(") ? 1 : 0);
  return [...found.keys()].sort((a, b) => last(a) - last(b) || found.get(b) - found.get(a) || (a < b ? -1 : 1));
}

function matrix() {
  if (!data.confusion) return;
  const system = Number($("matrix-system").value);
  const form = $("matrix-form").value;
  const only = $("matrix-wrong").checked;
  const counts = data.confusion[system];
  const cells = [];
  for (const [row, columns] of Object.entries(counts)) {
    for (const [column, count] of Object.entries(columns)) {
      if ((form === "" || row === form || column === form) && !(only && row === column)) cells.push({ row, column, count });
    }
  }
  const order = inOrder(cells);
  const held = (key) => new Set(cells.map((cell) => cell[key]));
  const [rows, columns] = form === "" ? [order, order] : ["row", "column"].map((key) => order.filter((name) => held(key).has(name)));
  const top = Math.max(1, ...cells.filter((cell) => cell.row !== cell.column).map((cell) => cell.count));
  const table = el("table");
  const corner = el("th", {}, "ref ↓");
  table.append(el("thead", {}, el("tr", {}, corner, ...columns.map((name) => el("th", { scope: "col" }, formLabel(name))))));
  const body = el("tbody");
  for (const row of rows) {
    const line = el("tr", {}, el("th", { scope: "row" }, formLabel(row)));
    for (const column of columns) {
      const count = (counts[row] || {})[column];
      const td = el("td", { className: row === column ? "same" : "" }, count ? "" : "·");
      if (count && only && row === column) td.append("=");
      if (count && !(only && row === column) && (form === "" || row === form || column === form)) {
        const button = el("button", { type: "button" }, String(count));
        button.setAttribute("aria-label", `${formLabel(column)} for ${formLabel(row)}, ${count} times: list the lines`);
        button.style.setProperty("--share", row === column ? 0 : Math.sqrt(count / top).toFixed(3));
        const mine = state.cell && state.cell.system === system && state.cell.row === row && state.cell.column === column;
        if (mine) td.classList.add("chosen");
        button.onclick = () => {
          state.cell = mine ? null : { system, row, column };
          matrix();
          choose();
          if (!mine) $("segments").scrollIntoView();
        };
        td.append(button);
      }
      line.append(td);
    }
    body.append(line);
  }
  table.append(body);
  $("matrix").replaceChildren(rows.length ? table : only ? "No differences." : "No such pronoun.");
  $("confusion-same").hidden = !only;
  hints();
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text, title]) => el("option", { value, title: title || "" }, text)));
}

// Marks tables that are wider than the page as scrollable.
function hints() {
  for (const box of document.querySelectorAll(".wide")) {
    const across = box.scrollWidth > box.clientWidth + SLACK;
    const down = box.scrollHeight > box.clientHeight + 1;
    let hint = box.previousElementSibling;
    if (!hint || !hint.classList.contains("scrolls")) {
      hint = el("p", { className: "hint scrolls" });
      box.before(hint);
    }
    hint.hidden = !across && !down;
    hint.textContent = across ? (down ? "↔ ↕ Scroll the table for more rows and columns." : "↔ Scroll the table sideways for more columns.")
      : "↕ Scroll the table for more rows.";
  }
}

// ---- keys, start

function step(by) {
  const articles = [...document.querySelectorAll("article")];
  if (by > 0 && state.to < state.found.length && articles.at(-1)?.contains(document.activeElement)) {
    extend(PAGE);
    return step(by);
  }
  const at = articles.findIndex((article) => article.contains(document.activeElement));
  const next = articles[Math.max(0, Math.min(articles.length - 1, at + by))];
  if (next) {
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  }
}

function sideways(by) {
  const article = document.activeElement && document.activeElement.closest("article");
  if (!article) return;
  const all = [...article.querySelectorAll(".p")];
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by];
  if (next) next.focus();
}

const KEYS = { j: () => step(1), k: () => step(-1), ArrowRight: () => sideways(1), ArrowLeft: () => sideways(-1), "/": () => $("search").focus() };
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (!$("clear").hidden) clear();
    if (document.activeElement === $("search")) $("search").blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
  if (document.activeElement.id === "matrix" && event.key.startsWith("Arrow")) return;
  if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
});

function legend() {
  const [low, high] = data.range;
  if (data.doubtful === null) $("legend").append(el("span", {}, `pronoun scores: ${low.toFixed(2)}`, el("i", { className: "scale" }), high.toFixed(2)));
  else {
    $("legend").append(el("span", {}, "pronoun scores: 0", el("i", { className: "scale doubtful" }), String(data.doubtful), el("i", { className: "scale fine" }), "1; ",
      el("i", { className: "sample" }, "dashed"), `: doubtful, below ${data.doubtful}`));
  }
  if (data.segments.some((segment) => segment[OUTPUTS].some((output) => gapsOf(output).length))) {
    $("legend").append(el("span", {}, el("i", { className: "gap" }, "‸it"), ": a pronoun may be missing, with the likely form and the probability"));
  }
  const heat = data.segments.some((segment) => lowestPronoun(segment));
  if (heat) $("legend").append(el("span", {}, "attention of the selected pronoun: none", el("i", { className: "heat" }), "highest"));
  else $("attention").parentElement.hidden = true;
}

function begin() {
  const names = data.systems.map(([label, name], at) => [String(at), label, name]);
  const apart = data.segments.some((segment) => segment[OUTPUTS].some(errorsOf));
  $("better-label").textContent = `Better system by ${data.by}`;
  $("sort").querySelector("[value=gap]").textContent = `largest difference of ${data.by}`;
  options($("better"), [["", "any"], ...names, ["tie", "tie"], ["none", "not compared"]]);
  if (data.systems.length < 2) {
    $("better").parentElement.hidden = true;
    $("sort").value = apart ? "errors" : "lowest";
    $("sort").querySelector("[value=gap]").remove();
  }
  if (!apart) $("sort").querySelector("[value=errors]").remove();
  if (data.confusion) {
    options($("matrix-system"), names);
    const wrongs = data.confusion.map((counts) => Object.entries(counts).flatMap(([row, columns]) =>
      Object.entries(columns).map(([column, count]) => (row === column ? 0 : count))).reduce((a, b) => a + b, 0));
    $("matrix-system").value = String(wrongs.indexOf(Math.max(...wrongs)));
    const forms = new Set(data.confusion.flatMap((counts) => Object.entries(counts).flatMap(([row, columns]) => [row, ...Object.keys(columns)])));
    options($("matrix-form"), [["", "all"], ...[...forms].sort().map((form) => [form, formLabel(form)])]);
    for (const id of ["matrix-system", "matrix-form", "matrix-wrong"]) $(id).onchange = matrix;
  } else {
    $("confusion-controls").hidden = $("matrix").hidden = true;
    $("confusion-hint").textContent = "The result has no reference translation to compare with.";
    $("sort").querySelector("[value=wrong]").remove();
  }
  options($("system"), [["", "any system"], ...names]);
  if (data.systems.length < 2) $("system").parentElement.hidden = true;
  for (const [id, texts] of Object.entries(NAMED)) {
    const sorted = [...texts.keys()].sort((a, b) => (texts[a] < texts[b] ? -1 : 1));
    options($(id), [["", "any"], ...sorted.map((at) => [String(at), formLabel(texts[at])])]);
  }
  for (const row of document.querySelectorAll("#forms tbody th")) {
    const at = data.forms.indexOf(row.textContent.toLowerCase());
    if (at < 0) continue;
    const button = el("button", { className: "tool", type: "button" }, row.textContent);
    button.onclick = () => { $("form").value = String(at); choose(); $("segments").scrollIntoView(); };
    row.replaceChildren(button);
  }
  for (const link of document.querySelectorAll(".top nav a")) {
    link.addEventListener("click", () => { const held = $(link.hash.slice(1)); if (held.tagName === "DETAILS") held.open = true; });
  }
  downloads();
  for (const id of KEPT) initial[id] = $(id).value;
  restore();
  document.body.classList.toggle("unbounded", data.doubtful === null);
  matrix();
  legend();
  let wait = 0;
  $("search").oninput = () => { clearTimeout(wait); wait = setTimeout(choose, 120); };
  for (const id of ["sort", "better", "system", "form", "class"]) $(id).onchange = choose;
  $("below").oninput = choose;
  $("attention").onchange = () => {
    state.attention = $("attention").checked;
    $("list").replaceChildren(...state.found.slice(state.from, state.to).map(draw));
  };
  $("clear").onclick = clear;
  $("more").onclick = () => extend(PAGE);
  $("earlier").onclick = () => retract(PAGE);
  new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting) && !$("more").hidden) extend(PAGE); },
    { rootMargin: "600px" }).observe($("more"));
  new ResizeObserver(hints).observe(document.body);
  window.addEventListener("hashchange", () => {
    if (/^#(l\d+)?\?/.test(location.hash)) { restore(); choose(); }
    follow();
  });
  choose();
  follow();
}

begin();
