// The page: one section a tab, each made when it is first seen; all of them for printing.
import { classesSection } from "./classes.js";
import { documentsSection } from "./documents.js";
import { element } from "./dom.js";
import { historySection } from "./history.js";
import { modelsSection } from "./models.js";
import { paperSection } from "./paper.js";
import { textSection } from "./text.js";

const data = JSON.parse(document.getElementById("data").textContent);

const sections = [
  ["classes", "Classes", data.classes.length, () => classesSection(data.classes)],
  ["search-history", "How it went", data.histories.length, () => historySection(data.histories)],
  ["models", "Models", data.models.length, () => modelsSection(data.models, data.source)],
  ["text", "Text", data.text, () => textSection(data.text, data.models, data.source)],
  ["filtering", "Filtering", data.documents?.words.length, () => documentsSection(data.documents, data.models, data.source)],
  ["paper", "Paper", data.paper.length, () => paperSection(data.paper)],
].filter(([, , present]) => present);

const tabs = [];
const panels = [];
const made = new Set();

function fill(index) {
  if (made.has(index)) return;
  made.add(index);
  panels[index].append(...sections[index][3]());
}

function select(index, focus = false) {
  tabs.forEach((tab, place) => {
    tab.setAttribute("aria-selected", String(place === index));
    tab.tabIndex = place === index ? 0 : -1;
    panels[place].classList.toggle("closed", place !== index);
  });
  fill(index);
  if (focus) tabs[index].focus();
}

sections.forEach(([name, title], index) => {
  tabs.push(element("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => { select(index); history.replaceState(null, "", `#${name}`); } }, title));
  panels.push(element("section", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, class: "closed" }, element("h2", {}, title)));
});

const list = element("div", { role: "tablist", "aria-label": "Sections" }, tabs);
list.addEventListener("keydown", (event) => {
  const now = tabs.indexOf(document.activeElement);
  const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (now < 0 || to === undefined) return;
  event.preventDefault();
  select((to + tabs.length) % tabs.length, true);
});

const THEMES = ["auto", "light", "dark"];
const remembered = () => { try { return localStorage.getItem("classgram-theme"); } catch { return null; } };
const theme = element("button", { type: "button", class: "theme", onclick: () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % 3]) });
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = `Theme: ${name}`;
  try { localStorage.setItem("classgram-theme", name); } catch { /* Nothing is remembered where pages may store nothing. */ }
}
setTheme(THEMES.includes(remembered()) ? remembered() : "auto");

document.body.append(
  element("header", {}, element("h1", {}, element("bdi", {}, data.title)), theme),
  element("nav", { "aria-label": "Sections" }, list),
  element("main", {}, panels),
  element("footer", {}, `Made by classgram ${data.version}. This page loads nothing and sends nothing.`),
);

const wanted = sections.findIndex(([name]) => `#${name}` === location.hash);
if (sections.length) select(Math.max(wanted, 0));
addEventListener("beforeprint", () => sections.forEach((_, index) => fill(index)));
