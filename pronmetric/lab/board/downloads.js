
// ---- downloads: tables as they are shown, as TSV and LaTeX
//
// An element with data-downloads (the name of the files) gets the buttons. data-of: selects what holds the table; data-as:
// its formats, both if it is missing; data-told: selects the text that says what the table shows.

const FORMATS = {
  tsv: ["TSV", (table) => cellsOf(table).map(tsvLine).join("")],
  tex: ["LaTeX", latexTable],
};

// The texts of the cells, row by row; boxes to tick and arrows of the order are left out.
function cellsOf(table) {
  return [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.classList.contains("tool"))
    .map((cell) => cell.textContent.replace(/ [▾▴]$/, "").trim()));
}

// As pronmetric.output.tsv writes a row.
const tsvLine = (cells) => `${cells.map(tsvCell).join("\t")}\n`;
function tsvCell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = value.replace(/[\\\t\n\r]/g, (c) => ({ "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" })[c]);
  const harmless = /^([+-]?\d+(\.\d*)?([eE][+-]?\d+)?|-)$/.test(value);
  return !harmless && /^('?[=+\-@＝＋－＠]|'')/.test(value) ? `'${text}` : text;
}

const COMMANDS = { "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "|": "\\textbar{}", "–": "--" };
const latex = (text) => text.replace(/[&%$#_{}~^\\<>|–]/g, (c) => COMMANDS[c] || `\\${c}`);
const latexNumber = (text) => latex(text).replace(/(?<!\w)-(?=\d)/g, () => "$-$");

// As pronmetric.report.tables writes a table: for the package booktabs, numbers on the right, the signatures as comments.
function latexTable(table, place) {
  const last = [...table.rows[table.rows.length - 1].cells].filter((cell) => !cell.classList.contains("tool"));
  const numbers = last.map((cell) => cell.classList.contains("number"));
  const line = (cells) => `    ${cells.map((text, at) => (numbers[at] ? latexNumber : latex)(text)).join(" & ")} \\\\\n`;
  const [head, ...rows] = cellsOf(table);
  const { downloads: name, told } = place.dataset;
  const label = table.closest("[aria-label]").getAttribute("aria-label");
  const caption = [document.title, label, told ? document.querySelector(told).textContent : ""].filter(Boolean)
    .map((part) => latex(/[.?!]$/.test(part) ? part : `${part}.`)).join(" ");
  const signatures = [...document.querySelectorAll("code")].map((code) => `% signature: ${code.textContent}\n`);
  return `% \\usepackage{booktabs}\n${signatures.join("")}\\begin{table}\n  \\centering\n  \\caption{${caption}}\n`
    + `  \\label{tab:${name}}\n  \\begin{tabular}{${numbers.map((number) => (number ? "r" : "l")).join("")}}\n`
    + `    \\toprule\n${line(head)}    \\midrule\n${rows.map(line).join("")}    \\bottomrule\n`
    + "  \\end{tabular}\n\\end{table}\n";
}

for (const place of document.querySelectorAll("[data-downloads]")) {
  for (const kind of (place.dataset.as || "tsv tex").split(" ")) {
    const [label, write] = FORMATS[kind];
    const button = el("button", { type: "button", className: "download" }, `↓ ${label}`);
    button.setAttribute("aria-label", `↓ ${label}: download the table of ${place.dataset.downloads}`);
    button.onclick = () => {
      const table = document.querySelector(`${place.dataset.of} table`);
      if (table) saveFile(`${place.dataset.downloads}.${kind}`, write(table, place));
    };
    place.append(button, " ");
  }
}
