// Classes: the map, search, the list, and the panel of one class.
import { hierarchy, treemap } from "d3-hierarchy";
import { choice, count, downloadButton, element, gradually, percent, word } from "./dom.js";
import { classTree, branchOf } from "./tree.js";

const MAP_RATIO = 0.5;
const ROWS = 100;

/** The class of each word, and where the words of each class begin. */
function indexed(data) {
  const starts = [0];
  for (const shown of data.shown) starts.push(starts.at(-1) + shown);
  const classOf = new Map();
  data.shown.forEach((_, number) => {
    for (let place = starts[number]; place < starts[number + 1]; place++) classOf.set(data.words[place], number);
  });
  const order = data.words.map((_, place) => place).sort((a, b) => data.counts[b] - data.counts[a]);
  return { ...data, starts, classOf, lower: data.words.map((text) => text.toLowerCase()), byCount: order };
}

export function classesSection(all) {
  const body = element("div", {});
  const show = (number) => body.replaceChildren(...oneSet(indexed(all[number])));
  show(0);
  const choose = all.length > 1 ? [choice("Classes of", all.map((one) => one.name), 0, show)] : [];
  return [...choose, body];
}

function oneSet(data) {
  const panel = element("section", { class: "panel", "aria-live": "polite", "aria-label": "Class" });
  const view = { data, panel, selected: -1, onSelect: [] };
  view.open = (number, { focus = true, found = null } = {}) => {
    view.selected = number;
    panel.replaceChildren(...classPanel(view, number, found));
    for (const listener of view.onSelect) listener(number);
    if (focus) {
      panel.querySelector("h3").focus({ preventScroll: true });
      if (matchMedia("(max-width: 899px)").matches) panel.scrollIntoView({ block: "start" });
    }
  };
  const summary = element(
    "p",
    { class: "summary" },
    `${count(data.numbers.length)} classes of ${count(data.types)} words, which occurred ${count(data.tokens)} times` +
      (data.words.length < data.types ? `; the ${count(data.words.length)} most frequent words are shown.` : "."),
  );
  const branches = data.tree ? branchOf(data) : null;
  const rest = [element("h3", {}, "All classes"), list(view)];
  if (data.tree) rest.push(element("h3", {}, "Tree of classes"), classTree(view));
  else
    rest.push(
      element("p", { class: "hint" }, data.left ? "No tree: there are too few classes, or too many." : "To see neighbours, nearest classes and the tree, name the text of these classes: --counts TEXT."),
    );
  const parts = [summary, search(view), element("div", { class: "columns around" }, map(view, branches), panel, element("div", { class: "rest" }, rest))];
  view.open(0, { focus: false });
  return parts;
}

function search(view) {
  const { data } = view;
  const results = element("ul", { class: "results", id: "results", "aria-label": "Words found" });
  const status = element("p", { class: "status", role: "status" });
  const matches = (text) => {
    const wanted = text.trim();
    if (!wanted) return [];
    const lower = wanted.toLowerCase();
    const found = data.classOf.has(wanted) ? [data.words.indexOf(wanted)] : [];
    for (const place of data.byCount) {
      if (found.length >= 8) break;
      if (data.lower[place].startsWith(lower) && place !== found[0]) found.push(place);
    }
    return found;
  };
  const land = (place) => {
    input.value = data.words[place];
    results.replaceChildren();
    view.open(data.classOf.get(data.words[place]), { found: place });
    status.textContent = "";
  };
  const look = () => {
    const found = matches(input.value);
    results.replaceChildren(
      ...found.map((place) =>
        element("li", {}, element("button", { type: "button", onclick: () => land(place) }, word(data.words[place]), element("span", { class: "aside" }, ` ${count(data.counts[place])}`))),
      ),
    );
    status.textContent = input.value.trim() && !found.length ? "No word begins so." : "";
  };
  const input = element("input", {
    type: "search", id: "search", autocomplete: "off", spellcheck: "false", dir: "auto", placeholder: "a word",
    oninput: look,
    onkeydown: (event) => {
      if (event.key === "Enter") {
        const [first] = matches(input.value);
        if (first !== undefined) land(first);
      } else if (event.key === "Escape") results.replaceChildren();
    },
  });
  return element("div", { class: "search", role: "search" }, element("label", { for: "search" }, "Find a word"), input, results, status);
}

/** As many words of a class as fit into a cell of the map, none of them cut. */
function fitting(context, words, width) {
  let text = "";
  for (const one of words) {
    const longer = text ? `${text} ${one}` : one;
    if (context.measureText(longer).width > width - 10) break;
    text = longer;
  }
  return text;
}

function map(view, branches) {
  const { data } = view;
  const box = element("div", { class: "map", role: "listbox", "aria-label": "Map of classes, each as large as it is frequent; arrow keys move through them" });
  const groups = Array.from({ length: branches ? 8 : 1 }, () => ({ children: [] }));
  data.numbers.forEach((_, index) => groups[branches ? branches[index] : 0].children.push({ index }));
  const root = hierarchy({ children: groups.filter((group) => group.children.length) })
    .sum((node) => (node.index === undefined ? 0 : Math.max(data.totals[node.index], 1)))
    .sort((a, b) => b.value - a.value);
  const cells = data.numbers.map((number, index) =>
    element("button", {
      type: "button", role: "option", tabindex: index ? "-1" : "0", "data-class": index,
      class: `cell b${branches ? branches[index] : 0}`,
      "aria-label": `class ${number}: ${data.names[index]}; ${count(data.totals[index])} occurrences`,
      title: `class ${number}: ${data.names[index]}\n${count(data.totals[index])} occurrences, ${count(data.sizes[index])} words`,
    }),
  );
  box.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-class]");
    if (cell) view.open(Number(cell.dataset.class), { focus: event.detail === 0 });
  });
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  box.addEventListener("keydown", (event) => {
    const now = cells.indexOf(document.activeElement);
    const to = event.key === "Home" ? 0 : event.key === "End" ? cells.length - 1 : now + (step[event.key] ?? 0);
    if (now < 0 || to === now || !cells[to]) return;
    event.preventDefault();
    cells[now].tabIndex = -1;
    cells[to].tabIndex = 0;
    cells[to].focus();
  });
  view.onSelect.push((number) => {
    box.querySelector("[aria-selected=true]")?.removeAttribute("aria-selected");
    cells[number].setAttribute("aria-selected", "true");
  });
  let drawn = 0;
  const layout = () => {
    const width = box.clientWidth;
    if (!width || width === drawn) return;
    drawn = width;
    const height = Math.max(320, Math.round(width * MAP_RATIO));
    box.style.height = `${height}px`;
    const context = document.createElement("canvas").getContext("2d");
    context.font = `13px ${getComputedStyle(box).fontFamily}`;
    treemap().size([width, height])(root);
    for (const { x0, y0, x1, y1, data: node } of root.leaves()) {
      const cell = cells[node.index];
      Object.assign(cell.style, { left: `${x0}px`, top: `${y0}px`, width: `${x1 - x0}px`, height: `${y1 - y0}px` });
      const words = data.words.slice(data.starts[node.index], Math.min(data.starts[node.index] + 3, data.starts[node.index + 1]));
      const text = x1 - x0 > 24 && y1 - y0 > 17 ? fitting(context, words, x1 - x0) : "";
      cell.replaceChildren(...(text ? [word(text)] : []));
    }
  };
  box.append(...cells);
  new ResizeObserver(layout).observe(box);
  const note = branches ? "Area: how often the words of a class occur. Colour: the branch of the tree." : "Area: how often the words of a class occur.";
  return element("figure", { class: "map-box" }, element("figcaption", {}, note), box);
}

const SORTS = [
  ["most frequent first", (data) => (a, b) => data.totals[b] - data.totals[a]],
  ["most words first", (data) => (a, b) => data.sizes[b] - data.sizes[a]],
  ["fewest words first", (data) => (a, b) => data.sizes[a] - data.sizes[b]],
  ["by name", (data) => (a, b) => data.names[a].localeCompare(data.names[b])],
  ["by number", (data) => (a, b) => data.numbers[a] - data.numbers[b]],
];

function list(view) {
  const { data } = view;
  let sort = 0;
  let rows = [];
  const body = element("tbody", {});
  const foot = element("div", {});
  const status = element("span", { class: "aside", role: "status" });
  const fill = () => {
    const wanted = filter.value.trim().toLowerCase();
    rows = data.numbers.map((_, index) => index).filter((index) => !wanted || holds(index, wanted));
    rows.sort(SORTS[sort][1](data));
    body.replaceChildren();
    foot.replaceChildren(gradually(rows, row, ROWS, body));
    status.textContent = `${count(rows.length)} classes`;
  };
  const holds = (index, wanted) => {
    if (String(data.numbers[index]) === wanted) return true;
    for (let place = data.starts[index]; place < data.starts[index + 1]; place++) if (data.lower[place].includes(wanted)) return true;
    return false;
  };
  const row = (index) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("button", { type: "button", class: "link", onclick: () => view.open(index) }, word(data.names[index]))),
      element("td", { class: "number" }, String(data.numbers[index])),
      element("td", { class: "number" }, count(data.sizes[index])),
      element("td", { class: "number" }, count(data.totals[index])),
      element("td", { class: "number" }, percent(data.totals[index] / Math.max(data.tokens, 1))),
    );
  const filter = element("input", { type: "search", id: "filter", dir: "auto", placeholder: "part of a word, or a number", oninput: fill });
  const heads = ["class", "number", "words", "occurrences", "share"].map((name, index) => element("th", { scope: "col", class: index ? "number" : null }, name));
  const tsv = () => [
    ["word", "class", "count"],
    ...rows.flatMap((index) => data.words.slice(data.starts[index], data.starts[index + 1]).map((text, at) => [text, data.numbers[index], data.counts[data.starts[index] + at]])),
  ];
  const made = element(
    "div",
    {},
    element(
      "div",
      { class: "controls" },
      element("label", { class: "choice", for: "filter" }, element("span", {}, "Filter"), filter),
      choice("Sort", SORTS.map(([name]) => name), 0, (index) => { sort = index; fill(); }),
      downloadButton("classes.tsv", tsv),
      status,
    ),
    element(
      "div",
      { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "All classes" },
      element("table", { class: "list" }, element("thead", {}, element("tr", {}, heads)), body),
    ),
    foot,
  );
  fill();
  return made;
}

function classPanel(view, number, found) {
  const { data } = view;
  const places = Array.from({ length: data.shown[number] }, (_, at) => data.starts[number] + at);
  const words = element("ul", { class: "words" });
  const highest = Math.max(1, data.counts[places[0]] ?? 1);
  const one = (place) => {
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * data.counts[place]) / highest}%`;
    return element("li", { class: place === found ? "found" : null }, bar, word(data.words[place]), element("span", { class: "aside" }, count(data.counts[place])));
  };
  // The word that was looked for stands first, wherever it is.
  const ordered = found === null ? places : [found, ...places.filter((place) => place !== found)];
  const more = gradually(ordered, one, 60, words);
  const parts = [
    element("h3", { tabindex: "-1" }, `Class ${data.numbers[number]}: `, word(data.names[number])),
    element("p", { class: "summary" }, `${count(data.sizes[number])} words, ${count(data.totals[number])} occurrences, ${percent(data.totals[number] / Math.max(data.tokens, 1))} of the text`),
    element("h4", {}, "Words by frequency"),
    words,
    more,
  ];
  if (data.left) {
    parts.push(
      element("h4", {}, "Typically before it"), neighbourList(view, data.left[number]),
      element("h4", {}, "Typically after it"), neighbourList(view, data.right[number]),
      element("h4", {}, "Nearest classes: those with like neighbours"), nearestList(view, data.near[number]),
    );
  }
  return parts;
}

const classButton = (view, index) => element("button", { type: "button", class: "link", onclick: () => view.open(index) }, word(view.data.names[index]));

function neighbourList(view, rows) {
  const { data } = view;
  if (!rows.length) return element("p", { class: "aside" }, "none");
  const edge = { "<s>": "the beginning of a sentence", "</s>": "the end of a sentence" };
  return element(
    "ul",
    { class: "neighbours" },
    rows.map(([other, share, examples]) =>
      element(
        "li",
        {},
        typeof other === "number" ? classButton(view, other) : element("span", {}, edge[other] ?? other),
        element("span", { class: "aside" }, ` ${percent(share)}`),
        examples.length ? element("span", { class: "aside" }, " such as ", examples.flatMap((place, at) => [at ? ", " : "", word(data.words[place])])) : null,
      ),
    ),
  );
}

function nearestList(view, rows) {
  if (!rows.length) return element("p", { class: "aside" }, "none");
  return element(
    "ul",
    { class: "neighbours" },
    rows.map(([other, alike]) => element("li", {}, classButton(view, other), element("span", { class: "aside" }, ` ${percent(alike)} alike`))),
  );
}
