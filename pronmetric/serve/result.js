
// ---- the result of a line
//
// segment: { at, source, outputs, verdict, chosen }; output: { side, context, text, score, preference, pronouns, missing,
// expected_wrong, expected_surplus, expected_missing, gaps, better, looks }. From pronouns on they are those of the server's answers, the
// expected numbers and the gaps where they are known; better and looks come later.
// chosen: [output, pronoun] whose attention is shown, null for none.

const SIDES = ["First", "Second"];
const HEAT = 0.02; // of the largest weight, from which a word is shaded
const TOP_WORDS = 5;
const NAMED = 3; // doubtful pronouns in the verdict
const SAID = 1; // log-odds of the source from which it is mentioned, as in the report
const valueOf = (pronoun) => pronoun.probability ?? pronoun.score;
const doubtful = (pronoun) => data.doubtful !== null && valueOf(pronoun) < data.doubtful;
const short = (value) => (data.doubtful === null ? value.toFixed(2) : value.toFixed(2).replace(/^0/, ""));
const percent = (weight) => `${(100 * weight).toFixed(weight < 0.1 ? 1 : 0)} %`;

// Where a pronoun stands on its part of the colour scale, from 0 to 1: below or above the threshold of doubt.
function share(pronoun) {
  const value = valueOf(pronoun);
  if (data.doubtful === null) return 1 / (1 + Math.exp(-value)); // unbounded
  return scaled(value, data.doubtful);
}

// Writes a text into `parent`; each mark [start, end, make] makes an element of what stands there.
function write(parent, text, marks) {
  const points = Array.from(text);
  let from = 0;
  for (const [start, end, make] of marks) {
    parent.append(points.slice(from, start).join(""), make(points.slice(start, end).join("")));
    from = end;
  }
  parent.append(points.slice(from).join(""));
}

function heated(weight, top) {
  return (word) => {
    const made = el("span", { className: "w", title: `attention ${percent(weight)}` }, word);
    made.style.setProperty("--a", (weight / top).toFixed(3));
    return made;
  };
}

// Marks for the words to which the chosen pronoun attends; `from` is the place of the first of them among the weights.
function heat(words, weights, from) {
  if (!weights) return [];
  const top = Math.max(...weights);
  return words.map(([start, end], at) => [start, end, weights[from + at]])
    .filter(([, , weight]) => weight > HEAT * top).map(([start, end, weight]) => [start, end, heated(weight, top)]);
}

// Draws a segment as an article; `change` is called with a side, a line's number, a span and a form to put there.
// Its pronoun with the lowest number is chosen if it is doubtful, or if the line is the only one.
function draw(segment, change, alone) {
  const article = el("article", { tabIndex: -1 }), least = lowest(segment);
  segment.article = article;
  segment.chosen = least && (alone || doubtful(segment.outputs[least[0]].pronouns[least[1]])) ? least : null;
  paint(segment, change);
  return article;
}

// The pronoun with the lowest number, as [output, pronoun]; null if there is none.
function lowest(segment) {
  const all = segment.outputs.flatMap((output, k) => output.pronouns.map((pronoun, at) => [k, at, valueOf(pronoun)]));
  return all.length ? all.reduce((least, one) => (one[2] < least[2] ? one : least)).slice(0, 2) : null;
}

const isChosen = (segment, k, at) => segment.chosen !== null && segment.chosen[0] === k && segment.chosen[1] === at;

// The attention of the chosen pronoun, if it is of this output and known.
function lookOf(segment, k) {
  const { looks } = segment.outputs[k];
  return looks && segment.chosen !== null && segment.chosen[0] === k ? looks.pronouns[segment.chosen[1]] : null;
}

function paint(segment, change) {
  const { article, outputs } = segment;
  const key = article.contains(document.activeElement) && document.activeElement.dataset.key;
  const shared = outputs.every((output) => output.context === outputs[0].context);
  article.setAttribute("aria-label", `Line ${segment.at + 1}`);
  article.replaceChildren(el("header", {}, el("h3", {}, `Line ${segment.at + 1}`), ...badge(segment)));
  if (segment.source) article.append(labelled("source", segment.source, [], data.sourceLang || ""));
  if (shared) article.append(...contextOf(segment, segment.chosen ? segment.chosen[0] : 0));
  outputs.forEach((output, k) => {
    const parts = [...(outputs.length > 1 ? [head(output)] : []), ...(shared ? [] : contextOf(segment, k))];
    article.append(el("section", { className: "output" }, ...parts, textOf(segment, k, change), advice(segment, k, change)));
  });
  if (key) article.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
}

function contextOf(segment, k) {
  const { context, looks } = segment.outputs[k], look = lookOf(segment, k);
  if (!context) return [];
  return [labelled("context", looks ? looks.context : context, looks ? heat(looks.context_words, look && look.weights, 0) : [], data.lang)];
}

function labelled(name, text, marks, lang) {
  const held = el("bdi", { lang });
  write(held, text, marks);
  return el("p", { className: name }, el("span", { className: "label" }, name), held);
}

function head(output) {
  const preference = output.preference === undefined ? [] : [el("span", { className: "label" }, `preference ${output.preference.toFixed(2)}`)];
  const errors = errorsOf([output]);
  const apart = errors ? [el("span", { className: "label" }, errors)] : [];
  return el("h4", {}, `${SIDES[output.side]} translation`, el("b", {}, output.score === null ? "no pronouns" : output.score.toFixed(2)), ...preference, ...apart);
}

// Expected errors of texts in words, together and apart; "" where the missing pronouns of none are known.
function errorsOf(outputs) {
  const known = outputs.filter((output) => output.expected_missing !== undefined && output.expected_wrong !== undefined);
  if (!known.length) return "";
  const apart = known.every((output) => output.expected_surplus !== undefined);
  const sum = (key) => known.reduce((so_far, output) => so_far + output[key], 0);
  const kinds = [sum("expected_wrong"), sum("expected_missing"), apart ? sum("expected_surplus") : null];
  return `${sumOf(kinds).toFixed(2)} errors expected: ${kindsOfErrors(...kinds)}`;
}

// The sign of a place where a pronoun is likely missing, with the likely form.
function gapSign({ form, probability }) {
  const title = `a pronoun is missing here with probability ${probability.toFixed(2)}; likely form: ${form}`;
  const sure = data.doubtful !== null && 1 - probability < data.doubtful;
  const made = el("span", { className: sure ? "gap doubtful" : "gap", title }, `‸${form}`, el("small", {}, short(probability)));
  made.setAttribute("role", "img");
  made.setAttribute("aria-label", title);
  return el("span", {}, made, "\u2009");
}

function badge(segment) {
  if (!segment.verdict) return [];
  const { better, difference, by } = segment.verdict;
  if (better === null) {
    const some = segment.outputs.some((output) => output.pronouns.length);
    return [el("span", { className: "badge" }, some ? "not compared: pronouns on one side only" : "no pronouns in either")];
  }
  const said = better === "tie" ? `tie by ${by}` : `${SIDES[better === "a" ? 0 : 1].toLowerCase()} is better by ${by} (${Math.abs(difference).toFixed(2)})`;
  return [el("span", { className: "badge", title: `first minus second: ${difference.toFixed(4)}` }, said)];
}

// The text with its pronouns as buttons, and the words that the chosen one attends to.
function textOf(segment, k, change) {
  const { text, pronouns, looks } = segment.outputs[k], look = lookOf(segment, k);
  const buttons = pronouns.map((pronoun, at) => [pronoun.start, pronoun.end, (word) => button(segment, k, at, word, change)]);
  const words = looks ? heat(looks.text_words, look && look.weights, looks.context_words.length) : [];
  const free = words.filter(([start, end]) => !pronouns.some((pronoun) => pronoun.start < end && start < pronoun.end));
  const made = el("p", { className: "text", dir: "auto", lang: data.lang });
  const gaps = (segment.outputs[k].gaps || []).map((gap) => [gap.start, gap.start, () => gapSign(gap)]);
  write(made, text, [...gaps, ...buttons, ...free].sort((a, b) => a[0] - b[0]));
  return made;
}

function button(segment, k, at, word, change) {
  const pronoun = segment.outputs[k].pronouns[at];
  const pressed = isChosen(segment, k, at);
  const value = valueOf(pronoun);
  const surplus = pronoun.surplus === undefined ? "" : `; of being surplus ${pronoun.surplus.toFixed(2)}`;
  const told = data.doubtful === null ? `score ${value.toFixed(2)}` : `probability ${value.toFixed(2)}${doubtful(pronoun) ? ", doubtful" : ""}${surplus}`;
  const made = el("button", { className: doubtful(pronoun) ? "p doubtful" : "p", type: "button", title: told }, word, el("small", {}, short(value)));
  made.setAttribute("aria-pressed", pressed);
  made.dataset.key = `${k} ${at}`;
  made.style.setProperty("--s", share(pronoun).toFixed(3));
  made.onclick = () => { segment.chosen = pressed ? null : [k, at]; paint(segment, change); };
  return made;
}

// The lines below a text: better forms, what the source says, what the chosen pronoun attends to.
function advice(segment, k, change) {
  const output = segment.outputs[k], look = lookOf(segment, k), made = el("div", { className: "advice" });
  output.pronouns.forEach((pronoun, at) => {
    const better = output.better && output.better.find((one) => one.start === pronoun.start);
    const said = pronoun.source && Math.abs(pronoun.source.log_odds) >= SAID ? pronoun.source : null;
    if (!isChosen(segment, k, at) && !doubtful(pronoun) && !(said && said.log_odds < 0)) return;
    const line = el("div", {}, el("b", {}, `“${pronoun.text}” ${short(valueOf(pronoun))}`));
    if (doubtful(pronoun) && !output.better && data.doubtful !== null) line.append("; looking for better forms …");
    if (better) line.append(...forms(segment, k, better, change));
    if (said) line.append(`; the source ${said.word ? `(“${said.word}”) ` : ""}${said.log_odds > 0 ? "supports" : "contradicts"} it`);
    made.append(line);
  });
  if (look && look.weights) made.append(el("div", {}, attended(output, look)));
  if (output.missing && output.missing.length) {
    made.append(el("div", {}, `In the source without a counterpart here: ${output.missing.map((word) => `“${word.text}”`).join(", ")}`));
  }
  return made;
}

function forms(segment, k, place, change) {
  if (!place.better.length) return ["; no other form is more probable here"];
  return ["; more probable:", ...place.better.map((other) => {
    const made = el("button", { type: "button", className: other.agrees ? "try" : "try disagrees" }, `${other.text} ${short(other.probability)}`);
    const note = other.agrees ? "" : ", which does not agree with the words around it";
    made.title = `put “${other.text}” in the place of “${place.text}”${note}`;
    made.onclick = () => change(segment.outputs[k].side, segment.at, place.start, place.end, other.text);
    return made;
  })];
}

function attended(output, look) {
  const points = [Array.from(output.looks.context), Array.from(output.text)];
  const words = [output.looks.context_words, output.looks.text_words].flatMap((spans, part) =>
    spans.map(([start, end]) => points[part].slice(start, end).join("")));
  const ranked = words.map((word, at) => [word, look.weights[at], look.genders[at]]).filter(([word]) => /[\p{L}\p{N}]/u.test(word));
  ranked.sort((a, b) => b[1] - a[1]);
  const seen = ranked.slice(0, TOP_WORDS).filter(([, weight], at) => !at || weight >= 0.01);
  const told = seen.map(([word, weight, gender]) => `${word}${bracketed(gender)} ${percent(weight)}`).join(", ");
  return `“${look.text}”${bracketed(look.gender)} attends to: ${told}`;
}

// ---- the whole

// The score of a side over all pronouns, in [0, 100]; unbounded with such a head. null without a pronoun.
function whole(outputs) {
  const values = outputs.flatMap((output) => output.pronouns.map(valueOf));
  return values.length ? ((data.doubtful === null ? 1 : 100) * values.reduce((sum, value) => sum + value, 0)) / values.length : null;
}

const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

// What the result says, in words: of two translations which is better, of one what is doubtful; `said`: the server's
// verdict on all lines, null if it was asked in several parts.
function summary(segments, said) {
  const outputs = segments.flatMap((segment) => segment.outputs.map((output) => ({ ...output, at: segment.at })));
  const all = outputs.flatMap((output) => output.pronouns.map((pronoun) => ({ ...pronoun, at: output.at })));
  const gaps = outputs.flatMap((output) => (output.gaps || []).filter((gap) => data.doubtful !== null && 1 - gap.probability < data.doubtful));
  if (!all.length && !gaps.length) {
    return `No pronouns, so there is nothing to score: give a longer text. This page scores texts in the language “${data.lang}”; for another one, start the server with its model, such as pronmetric serve --model multilingual --lang de.`;
  }
  if (segments[0].outputs.length > 1) {
    if (said) return said;
    const seen = (better) => segments.filter((segment) => segment.verdict.better === better).length;
    return `The first translation is better in ${count(seen("a"), "line")}, the second in ${seen("b")}; ${count(seen("tie"), "tie")}.`;
  }
  if (data.doubtful === null) return said || `${count(all.length, "pronoun")}.`;
  const worst = all.filter(doubtful).sort((a, b) => valueOf(a) - valueOf(b));
  const missing = gaps.length ? ` ${count(gaps.length, "pronoun")} may be missing.` : "";
  if (!worst.length) return `${all.length === 1 ? "The pronoun looks" : `All ${all.length} pronouns look`} right.${missing}`;
  const first = worst.slice(0, NAMED).map(({ text, at }) => `“${text}” in line ${at + 1}`).join(", ");
  return `${worst.length} of ${count(all.length, "pronoun")} ${worst.length === 1 ? "is" : "are"} doubtful: ${first}${worst.length > NAMED ? ", …" : ""}.${missing}`;
}

// The figures below the verdict: of one translation the server's sentence, of two the scores of both.
function figures(segments, said) {
  const sides = [0, 1].map((side) => segments.flatMap((segment) => segment.outputs.filter((output) => output.side === side)));
  const told = (outputs) => { const score = whole(outputs); return score === null ? "no pronouns" : score.toFixed(1); };
  const all = sides.flat().flatMap((output) => output.pronouns);
  if (!all.length) return "";
  const apart = sides.map((outputs) => errorsOf(outputs));
  if (!sides[1].length) return said || `Score ${told(sides[0])}; ${count(all.length, "pronoun")}.${apart[0] && ` ${apart[0]}.`}`;
  const doubts = data.doubtful === null ? "" : `, ${all.filter(doubtful).length} doubtful`;
  const errors = apart[0] && apart[1] ? ` First: ${apart[0]}. Second: ${apart[1]}.` : "";
  return `Scores ${told(sides[0])} and ${told(sides[1])}; ${count(all.length, "pronoun")}${doubts}.${errors}`;
}

function legend() {
  if (data.doubtful === null) return [el("span", {}, "pronoun scores: low", el("i", { className: "scale" }), "high")];
  const scale = el("span", {}, "probability: 0", el("i", { className: "scale doubtful" }), String(data.doubtful), el("i", { className: "scale fine" }), "1; ",
    el("i", { className: "sample" }, "dashed"), `: doubtful, below ${data.doubtful}`);
  const gap = el("span", {}, el("i", { className: "gap" }, "‸it"), ": a pronoun may be missing, with the likely form and the probability");
  const found = data.findsMissing ? [gap] : [];
  return [scale, ...found, el("span", {}, "attention of the chosen pronoun: none", el("i", { className: "heat" }), "highest")];
}
