// Charts by Observable Plot, in the colours of the page.
import * as Plot from "@observablehq/plot";
import { element } from "./dom.js";

export { Plot };

/** The class of all charts: the policy of the page allows the style that goes with it. */
export const CHART_CLASS = "chart";

/** Colours that can be told from both backgrounds, and their marks for those who see no colours. */
export const COLOURS = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"];
export const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross", "circle"];

/** A chart with a caption that says what it shows, drawn anew when its width changes. */
export function chart(caption, options) {
  const place = element("div", { class: "plot" });
  const box = element("figure", { class: "chart-box" }, element("figcaption", {}, caption), place);
  let width = 0;
  const draw = () => {
    const now = Math.floor(place.clientWidth);
    if (!now || now === width) return;
    width = now;
    const made = options(width);
    // The label stands below the numbers of the axis, not among them.
    if (made.x) made.x = { labelAnchor: "center", labelArrow: "none", labelOffset: 38, ...made.x };
    place.replaceChildren(
      Plot.plot({
        className: CHART_CLASS,
        width,
        marginBottom: 46,
        marginTop: 28,
        ariaLabel: caption,
        style: { background: "transparent", color: "inherit", fontSize: "12px" },
        ...made,
      }),
    );
  };
  new ResizeObserver(draw).observe(place);
  return box;
}

/** A number that fits on an axis. */
export function short(value) {
  const size = Math.abs(value);
  const [unit, name] = size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  return `${Number((value / unit).toPrecision(6))}${name}`.replace("-", "−");
}

/** What each colour and mark stands for. */
export function legend(names) {
  const items = names.map((name, index) => {
    const mark = element("span", { class: "swatch", "aria-hidden": "true" });
    mark.style.background = COLOURS[index % COLOURS.length];
    return element("li", {}, mark, element("bdi", {}, name));
  });
  return element("ul", { class: "legend", "aria-label": "Legend" }, items);
}

/** Lines with marks: points are {x, y, label}. */
export function lineMarks(points, labels, { symlog = false } = {}) {
  const colour = (point) => COLOURS[labels.indexOf(point.label) % COLOURS.length];
  const symbol = (point) => SYMBOLS[labels.indexOf(point.label) % SYMBOLS.length];
  return [
    Plot.line(points, { x: "x", y: "y", z: "label", stroke: colour, strokeWidth: 1.6 }),
    Plot.dot(points, {
      x: "x", y: "y", fill: colour, symbol, r: 3.2,
      title: (point) => `${point.label}\n${point.note ?? `${point.x}: ${point.y}`}`,
      tip: { fill: "var(--surface)", stroke: "var(--line)" },
    }),
  ];
}
