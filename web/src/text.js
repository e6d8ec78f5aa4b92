// A text word by word: coloured by surprisal, with what each model expected instead.
import { choice, count, element, figure, percent, probability, table, word } from "./dom.js";

const LEVELS = [2, 5, 8, 11, 14];
const level = (bits) => LEVELS.filter((edge) => bits >= edge).length;

export function textSection(text, models, source) {
  const names = models.map((one) => one.name);
  const details = element("div", { class: "details", role: "status", "aria-live": "polite" }, element("p", { class: "hint" }, "Point at a word, or move through the text with the arrow keys, to see what each model expected."));
  const body = element("div", { class: "text", "aria-label": "The text, word by word" });
  const words = [];
  const describe = (entry) => {
    const [own, unknown, bits, likelier] = entry;
    details.replaceChildren(
      element("h3", {}, word(own), unknown ? element("span", { class: "aside" }, " (unknown)") : null),
      table(
        "What each model said of it",
        [
          { heading: "model", cell: (index) => names[index] },
          { heading: "probability", number: true, cell: (index) => probability(2 ** -bits[index]) },
          { heading: "bits", number: true, cell: (index) => figure(bits[index], 1) },
          { heading: "most likely here", cell: (index) => element("span", {}, likelier[index].flatMap(([at, share], place) => [place ? ", " : "", word(text.vocabulary[at]), ` ${percent(share)}`])) },
        ],
        names.map((_, index) => index),
      ),
    );
  };
  const colour = (model) => {
    for (const [made, entry] of words) made.className = `word s${level(entry[2][model])}`;
  };
  for (const sentence of text.sentences) {
    const line = element("p", { dir: "auto" });
    for (const entry of sentence) {
      const made = element("span", { role: "button", tabindex: words.length ? "-1" : "0", "aria-label": `${entry[0]}: ${entry[2].map((bits, index) => `${names[index]} ${figure(bits, 1)} bits`).join(", ")}` }, word(entry[0]));
      made.addEventListener("pointerenter", () => describe(entry));
      made.addEventListener("focus", () => describe(entry));
      made.addEventListener("click", () => made.focus());
      words.push([made, entry]);
      line.append(made, " ");
    }
    body.append(line);
  }
  body.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 10, ArrowLeft: -1, ArrowUp: -10 }[event.key];
    const now = words.findIndex(([made]) => made === document.activeElement);
    if (!step || now < 0) return;
    event.preventDefault();
    const to = words[Math.min(Math.max(now + step, 0), words.length - 1)][0];
    words[now][0].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  colour(0);
  const key = element("ul", { class: "legend", "aria-label": "Colours" }, [0, ...LEVELS].map((edge, index) => element("li", {}, element("span", { class: `word s${index}` }, index < LEVELS.length ? `${edge} to ${LEVELS[index]} bits` : `${edge} bits or more`))));
  return [
    element("p", { class: "summary" }, `The beginning of ${source}: the more surprising a word, the stronger its colour.`),
    element("div", { class: "controls" }, choice("Coloured by", names, 0, colour)),
    key,
    element("div", { class: "columns" }, element("div", { class: "wide" }, body), details),
    ...(names.length > 1 ? contest(text, names) : []),
  ];
}

/** Where one model knew better than another: by how frequent words are, and word by word. */
function contest(text, names) {
  let first = 0;
  let second = names.length - 1;
  const body = element("div", {});
  const bandTable = () =>
    table(
      `Mean bits of ${count(text.scored)} words, by how frequent they are in the training text`,
      [
        { heading: "frequency", cell: (band) => band.band },
        { heading: "words", number: true, cell: (band) => count(band.words) },
        ...[first, second].map((model) => ({ heading: names[model], number: true, cell: (band) => figure(band.bits[model], 2) })),
        { heading: "better", cell: (band) => (Math.abs(band.bits[first] - band.bits[second]) < 0.005 ? "" : names[band.bits[first] < band.bits[second] ? first : second]) },
      ],
      text.bands,
    );
  const wins = (winner, loser) => {
    const rows = text.types
      .map(([own, number, bits]) => ({ own, number, gain: bits[loser] - bits[winner] }))
      .filter((row) => row.gain > 0)
      .sort((a, b) => b.gain - a.gain)
      .slice(0, 12);
    return table(
      `Where ${names[winner]} wins`,
      [
        { heading: "word", cell: (row) => word(row.own) },
        { heading: "times", number: true, cell: (row) => count(row.number) },
        { heading: "bits saved in all", number: true, cell: (row) => figure(row.gain, 1) },
        { heading: "each time", number: true, cell: (row) => figure(row.gain / row.number, 2) },
      ],
      rows,
    );
  };
  const fill = () => body.replaceChildren(bandTable(), element("div", { class: "charts" }, wins(first, second), wins(second, first)));
  fill();
  return [
    element("h3", {}, "Which model wins where"),
    element("div", { class: "controls" }, choice("Compare", names, first, (index) => { first = index; fill(); }), choice("with", names, second, (index) => { second = index; fill(); })),
    body,
  ];
}
