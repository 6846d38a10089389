"use strict";

const files = [...document.querySelectorAll("details.file")];
const blocks = [...document.querySelectorAll(".block")];
const filters = [...document.querySelectorAll(".filter")];
const search = document.getElementById("search");
const place = document.getElementById("place");
const keys = document.getElementById("keys");
let here = -1;

const isOn = (kind) => filters.find((button) => button.dataset.kind === kind).getAttribute("aria-pressed") === "true";
const kindOf = (block) => ["rewritten", "left", "failed"].find((kind) => block.classList.contains(kind));
const shown = () => blocks.filter((block) => !block.hidden && !block.closest("details").hidden);

// What is on the page depends on the filters and the search, and on nothing else.
function update() {
  const wanted = search.value.trim().toLowerCase();
  for (const file of files) {
    const named = file.querySelector(".path").textContent.toLowerCase().includes(wanted);
    let any = false;
    for (const block of file.querySelectorAll(".block")) {
      const matches = named || block.querySelector("aside").textContent.toLowerCase().includes(wanted);
      block.hidden = !isOn(kindOf(block)) || !matches;
      any = any || !block.hidden;
    }
    file.hidden = !any;
  }
  document.getElementById("nothing").hidden = files.length === 0 || files.some((file) => !file.hidden);
  number();
}

function number() {
  const all = shown();
  const at = all.indexOf(blocks[here]);
  place.textContent = all.length ? `${at < 0 ? "–" : at + 1} of ${all.length}` : "";
}

function go(block) {
  if (!block) return;
  blocks[here]?.classList.remove("here");
  here = blocks.indexOf(block);
  block.closest("details").open = true;
  block.classList.add("here");
  block.focus({ preventScroll: true });
  block.scrollIntoView({ block: "start" });
  number();
}

function step(by) {
  const all = shown();
  const at = all.indexOf(blocks[here]);
  go(at < 0 ? all[by > 0 ? 0 : all.length - 1] : all[at + by]);
}

function stepFile(by) {
  const visible = files.filter((file) => !file.hidden);
  const at = visible.indexOf(blocks[here]?.closest("details"));
  const file = at < 0 ? visible[0] : visible[at + by];
  go(file && [...file.querySelectorAll(".block")].find((block) => !block.hidden));
}

function toggle(button) {
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  update();
}

function remember(theme) {
  try {
    localStorage.setItem("autograph-torch-theme", theme);
  } catch {} // a page opened from a file may have no storage
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember(root.dataset.theme);
}

// What sticks below the header has to know its height, which changes where it wraps.
function measure() {
  document.documentElement.style.setProperty("--header", `${document.querySelector("header").offsetHeight}px`);
}

const actions = {
  j: () => step(1),
  k: () => step(-1),
  n: () => stepFile(1),
  p: () => stepFile(-1),
  o: () => {
    const file = blocks[here]?.closest("details");
    if (file) file.open = !file.open;
  },
  1: () => toggle(filters[0]),
  2: () => toggle(filters[1]),
  3: () => toggle(filters[2]),
  t: theme,
  "/": () => search.focus(),
  "?": () => keys.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target === search) {
    if (event.key === "Escape" || event.key === "Enter") search.blur();
    return;
  }
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
filters.forEach((button) => button.addEventListener("click", () => toggle(button)));
blocks.forEach((block) => block.addEventListener("click", () => {
  blocks[here]?.classList.remove("here");
  here = blocks.indexOf(block);
  block.classList.add("here");
  number();
}));
search.addEventListener("input", update);
addEventListener("resize", measure);
document.getElementById("theme").addEventListener("click", theme);
document.getElementById("help").addEventListener("click", () => keys.showModal());
try {
  const stored = localStorage.getItem("autograph-torch-theme");
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
} catch {}
update();
measure();
