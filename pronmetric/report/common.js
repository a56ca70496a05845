"use strict";
// What all pages share: elements made of data, figures in words, files to save, the scale of colours, the colour theme. It
// comes before their own scripts. Strings are inserted as text only.

const $ = (id) => document.getElementById(id);

function el(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const figure = (value, digits = 2) => (value === null ? "–" : value.toFixed(digits));
const span = (low, high) => (low === null ? "–" : `${low.toFixed(2)} to ${high.toFixed(2)}`);
// Expected errors of each kind in words; surplus: null if wrong has the surplus pronouns too.
const kindsOfErrors = (wrong, missing, surplus) => (surplus === null ? `${wrong.toFixed(2)} wrong or surplus, ${missing.toFixed(2)} missing`
  : `${wrong.toFixed(2)} wrong, ${missing.toFixed(2)} missing, ${surplus.toFixed(2)} surplus`);
const sumOf = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0);
const bracketed = (gender) => (gender ? ` (${gender})` : "");
const named = (name) => el("bdi", {}, name);
const classLabel = (name) => ({ all: "all pronouns", i: "I" })[name] || name;

const TYPES = { json: "application/json", svg: "image/svg+xml", tex: "application/x-tex", tsv: "text/tab-separated-values" };

// Saves a text as a file, of the type of its suffix.
function saveFile(name, text) {
  const type = TYPES[name.split(".").at(-1)];
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Where a probability stands on its part of the colour scale, from 0 to 1: below or above the threshold of doubt.
const scaled = (value, threshold) => (value < threshold ? value / threshold : (value - threshold) / (1 - threshold));

const THEMES = ["auto", "light", "dark"];
const KEY = "pronmetric-theme";

function stored() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function setTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = `◐ ${name}`;
  $("theme").setAttribute("aria-label", `Colour theme: ${name}`);
}

setTheme(THEMES.includes(stored()) ? stored() : "auto");
$("theme").onclick = () => {
  const next = THEMES[(THEMES.indexOf($("theme").textContent.slice(2)) + 1) % THEMES.length];
  setTheme(next);
  try { localStorage.setItem(KEY, next); } catch { /* private window */ }
};
