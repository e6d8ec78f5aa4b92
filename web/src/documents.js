// Perplexities of lines or documents, and a threshold to drag: what filtering would keep and drop.
import { chart, Plot, short } from "./charts.js";
import { choice, count, downloadButton, element, figure, percent, word } from "./dom.js";

const STEPS = 500;
const EXAMPLES = 4;
const MARGINS = { left: 44, right: 12 };

export function documentsSection(documents, models, source) {
  const body = element("div", {});
  const show = (model) => body.replaceChildren(...oneModel(documents, models[model].name, documents.perplexities[model], source));
  show(0);
  const names = models.map((one) => one.name);
  return [
    element("p", { class: "summary" }, `Perplexity of ${count(documents.words.length)} ${documents.unit}s of ${source}: drag the threshold to see what a filter keeps.`),
    element("div", { class: "controls" }, choice("By", names, 0, show)),
    body,
  ];
}

function oneModel(documents, name, values, source) {
  const sorted = [...values].sort((a, b) => a - b);
  const low = Math.log(sorted[0] * 0.98);
  const high = Math.log(sorted.at(-1) * 1.02);
  const value = (share) => Math.exp(low + share * (high - low));
  const middle = Math.log(sorted[Math.floor(sorted.length * 0.8)]);
  let threshold = Math.exp(middle);
  const examples = Object.entries(documents.examples).map(([place, text]) => ({ place: Number(place), text, perplexity: values[place] })).sort((a, b) => a.perplexity - b.perplexity);
  const words = documents.words.reduce((sum, one) => sum + one, 0);

  const slider = element("input", { type: "range", class: "threshold", min: "0", max: String(STEPS), value: String(Math.round((STEPS * (middle - low)) / (high - low))), "aria-label": `Threshold: ${documents.unit}s with a lower perplexity are kept`, oninput: () => set(value(slider.valueAsNumber / STEPS), false) });
  const kept = element("ol", { class: "examples" });
  const dropped = element("ol", { class: "examples" });
  const summary = element("p", { class: "status", role: "status" });
  const command = element("code", {});
  const line = element("div", { class: "threshold-line", "aria-hidden": "true" });
  const example = (one) => element("li", {}, element("span", { class: "aside" }, figure(one.perplexity, 0)), " ", word(one.text, { dir: "auto" }));
  const set = (wanted, moveSlider = true) => {
    threshold = wanted;
    const share = Math.min(Math.max((Math.log(wanted) - low) / (high - low), 0), 1);
    if (moveSlider) slider.value = String(Math.round(STEPS * share));
    slider.setAttribute("aria-valuetext", `perplexity ${figure(threshold, 0)}`);
    line.style.left = `calc(${MARGINS.left}px + (100% - ${MARGINS.left + MARGINS.right}px) * ${share})`;
    let units = 0;
    let inside = 0;
    values.forEach((one, place) => {
      if (one < threshold) { units++; inside += documents.words[place]; }
    });
    summary.textContent = `Below ${figure(threshold, 0)}: ${count(units)} of ${count(values.length)} ${documents.unit}s kept (${percent(units / values.length)}), ${percent(inside / Math.max(words, 1))} of the words.`;
    const unit = documents.unit === "document" ? " --unit document" : "";
    command.textContent = `classgram score ${name} ${source} --keep-below ${threshold.toFixed(0)}${unit}`;
    const below = examples.filter((one) => one.perplexity < threshold);
    const above = examples.filter((one) => one.perplexity >= threshold);
    // Half of the examples from beside the threshold, where it is close, and half from the far end.
    const some = (near) => [...near.slice(0, EXAMPLES), ...near.slice(EXAMPLES).slice(-EXAMPLES)];
    kept.replaceChildren(...some(below.reverse()).map(example));
    dropped.replaceChildren(...some(above).map(example));
  };
  const plot = chart(`How many ${documents.unit}s have which perplexity, by ${name}`, (width) => ({
    height: 260, marginLeft: MARGINS.left, marginRight: MARGINS.right,
    x: { type: "log", domain: [Math.exp(low), Math.exp(high)], label: "perplexity", tickFormat: short, ticks: Math.max(2, width / 90) }, y: { label: `${documents.unit}s`, grid: true },
    marks: [Plot.rectY(bins(values, low, high), { x1: "x1", x2: "x2", y: "number", fill: "var(--c0)" }), Plot.ruleY([0], { stroke: "currentColor" })],
  }));
  const place = plot.querySelector(".plot");
  const box = element("div", { class: "threshold-box" }, place, line);
  plot.append(box, slider);
  const drag = (event) => {
    const bounds = box.getBoundingClientRect();
    set(value(Math.min(Math.max((event.clientX - bounds.left - MARGINS.left) / (bounds.width - MARGINS.left - MARGINS.right), 0), 1)));
  };
  box.addEventListener("pointerdown", (event) => { box.setPointerCapture(event.pointerId); event.preventDefault(); drag(event); });
  box.addEventListener("pointermove", (event) => box.hasPointerCapture(event.pointerId) && drag(event));
  set(threshold);
  const tsv = () => [["place", "perplexity", "words", "kept"], ...values.map((one, at) => [at + 1, one, documents.words[at], one < threshold ? "yes" : "no"])];
  return [
    plot, summary,
    element("p", {}, "The same on the command line: ", command),
    element("div", { class: "controls" }, downloadButton("perplexities.tsv", tsv)),
    element("div", { class: "charts" }, element("section", {}, element("h3", {}, "Kept, nearest to the threshold first"), kept), element("section", {}, element("h3", {}, "Dropped, nearest to the threshold first"), dropped)),
  ];
}

/** Equal steps of the logarithm. */
function bins(values, low, high) {
  const number = Math.min(50, Math.max(10, Math.round(Math.sqrt(values.length))));
  const step = (high - low) / number;
  const made = Array.from({ length: number }, (_, at) => ({ x1: Math.exp(low + at * step), x2: Math.exp(low + (at + 1) * step), number: 0 }));
  for (const one of values) made[Math.min(number - 1, Math.max(0, Math.floor((Math.log(one) - low) / step)))].number++;
  return made;
}
