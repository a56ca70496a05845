"use strict";
// Parts of all pages: the colour theme, elements made of data, and figures in words. Strings are inserted as text only.

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
const named = (name) => el("bdi", {}, name);
const classLabel = (name) => ({ all: "all pronouns", i: "I" })[name] || name;

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
