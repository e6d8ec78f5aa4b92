// The paper's experiments: its figures beside ours, as tables and plots.
import { chart, legend, lineMarks, Plot, short } from "./charts.js";
import { downloadButton, element, table } from "./dom.js";

const NUMBER = /^[+\-–]?[\d.,]*$/;

export function paperSection(folders) {
  return folders.flatMap((folder) => [
    folders.length > 1 ? element("h2", {}, folder.name) : null,
    ...folder.tables.map((one) => {
      const numbers = one.headings.map((_, place) => one.rows.every((row) => NUMBER.test(row[place] ?? "")));
      const columns = one.headings.map((heading, place) => ({ heading, number: numbers[place], cell: (row) => row[place] ?? "" }));
      const labels = [...new Set(one.panels.flatMap((panel) => panel.lines.map((line) => line.label)))];
      const inside = [
        table(one.title, columns, one.rows),
        ...one.notes.map((note) => element("p", { class: "hint" }, note)),
        one.panels.length ? legend(labels) : null,
        element("div", { class: "charts" }, one.panels.map((panel) => panelChart(panel, labels, one.title))),
        element("div", { class: "controls" }, downloadButton(`${one.name}.tsv`, () => [one.headings, ...one.rows])),
      ];
      const detail = one.name.endsWith("-details") || one.name.endsWith("-exponents");
      return detail ? element("details", {}, element("summary", {}, one.title), inside) : element("section", { class: "experiment" }, inside);
    }),
  ].filter(Boolean));
}

function panelChart(panel, labels, title) {
  const points = panel.lines.flatMap((line) => line.points.map(([x, y]) => ({ x, y, label: line.label })));
  return chart(`${panel.title || title}: ${panel.y_label}`, (width) => ({
    height: 300, marginLeft: 52, x: { type: "log", label: panel.x_label, tickFormat: short, ticks: Math.max(2, width / 90) },
    y: { type: panel.log_y ? "log" : "linear", label: panel.y_label, grid: true, tickFormat: short },
    marks: [...(panel.zero ? [Plot.ruleY([0], { stroke: "currentColor" })] : []), ...lineMarks(points, labels)],
  }));
}
