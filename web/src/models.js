// Models: a table, and bars of their perplexities by both rules.
import { chart, COLOURS, legend, Plot } from "./charts.js";
import { count, element, figure, table } from "./dom.js";

export function modelsSection(models, source) {
  const scored = models.some((one) => one.perplexity_including_unknown !== undefined);
  const columns = [
    { heading: "model", cell: (one) => one.name },
    { heading: "recipe", cell: (one) => String(one.recipe) },
    { heading: "order", number: true, cell: (one) => count(one.order) },
    { heading: "words", number: true, cell: (one) => count(one.vocabulary) },
    { heading: "classes", number: true, cell: (one) => (one.classes === undefined ? "" : count(one.classes)) },
  ];
  if (!scored) return [table("Models", columns, models), element("p", { class: "hint" }, "To compare the models on a text, give it as --text TEXT.")];
  columns.push(
    { heading: "incl. unknown", number: true, cell: (one) => figure(one.perplexity_including_unknown, 2) },
    { heading: "excl. unknown", number: true, cell: (one) => figure(one.perplexity_excluding_unknown, 2) },
    { heading: "bits per word", number: true, cell: (one) => figure(one.bits_per_word, 3) },
    { heading: "change %", number: true, cell: (one) => (one.p_value === undefined ? "" : figure(one.perplexity_change_percent, 2)) },
    { heading: "p", number: true, cell: (one) => (one.p_value === undefined ? "" : figure(one.p_value, 4)) },
  );
  const rules = [["unknown words included", "perplexity_including_unknown"], ["unknown words excluded", "perplexity_excluding_unknown"]];
  const bars = models.flatMap((one) => rules.map(([rule, key]) => ({ model: one.name, rule, value: one[key] })));
  const longest = Math.max(...models.map((one) => one.name.length));
  return [
    table(`Perplexity on ${source}; change and p against ${models[0].name}`, columns, models),
    legend(rules.map(([rule]) => rule)),
    chart("Perplexity by both rules: lower is better", (width) => ({
      marginLeft: Math.min(10 + 7 * longest, width * 0.4), marginRight: 56, height: 74 + 56 * models.length,
      x: { label: "perplexity", grid: true, nice: true }, y: { axis: null, domain: rules.map(([rule]) => rule) },
      fy: { label: null, domain: models.map((one) => one.name), axis: "left" },
      marks: [
        Plot.barX(bars, { fy: "model", y: "rule", x: "value", fill: (bar) => COLOURS[rules.findIndex(([rule]) => rule === bar.rule)] }),
        Plot.text(bars, { fy: "model", y: "rule", x: "value", text: (bar) => figure(bar.value, 1), dx: 4, textAnchor: "start", fill: "currentColor" }),
        Plot.ruleX([0], { stroke: "currentColor" }),
      ],
    })),
  ];
}
