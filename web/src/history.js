// How searches went: F and moved words against time, and the curve over the number of classes.
import { chart, legend, lineMarks, Plot, short } from "./charts.js";
import { count, element, figure, table } from "./dom.js";

/** At most eight of the numbers tried. */
const curveTicks = (curve) => curve.map((point) => point.classes).filter((_, at) => (curve.length - 1 - at) % Math.ceil(curve.length / 8) === 0);

export function historySection(histories) {
  const labels = histories.map((one) => one.name);
  const points = (y) =>
    histories.flatMap((one) =>
      one.sweeps.map((sweep) => ({ x: sweep.seconds, y: y(sweep), label: one.name, note: `sweep ${sweep.sweep} (${sweep.kind}): ${count(sweep.moved)} moved, F ${count(sweep.F)}, ${figure(sweep.seconds, 2)} s` })),
    );
  const time = { label: "seconds", grid: false };
  const parts = [
    table(
      "Searches",
      [
        { heading: "classes", cell: (one) => one.name },
        { heading: "number", number: true, cell: (one) => count(one.classes) },
        { heading: "criterion", cell: (one) => one.criterion },
        { heading: "F", number: true, cell: (one) => count(one.F) },
        { heading: "sweeps", number: true, cell: (one) => count(one.sweeps.length) },
        { heading: "seconds", number: true, cell: (one) => figure(one.sweeps.at(-1)?.seconds ?? 0, 2) },
        { heading: "ended", cell: (one) => one.ended },
      ],
      histories,
    ),
    labels.length > 1 ? legend(labels) : null,
    element(
      "div",
      { class: "charts" },
      ...histories.map((one, index) => {
        const own = points((sweep) => sweep.F).filter((point) => point.label === one.name);
        return chart(`F of ${one.name} (${one.criterion}) after each sweep`, () => ({ marginLeft: 70, height: 260, x: time, y: { label: "F", grid: true, tickFormat: short }, marks: lineMarks(own, labels) }));
      }),
      chart("Words moved in each sweep", () => ({
        marginLeft: 56, height: 260, x: time, y: { type: "symlog", label: "moved", grid: true, ticks: [0, 1, 10, 100, 1000, 10000, 100000], tickFormat: short },
        marks: lineMarks(points((sweep) => sweep.moved), labels),
      })),
      ...histories.filter((one) => one.curve.length).map((one) => {
        const curve = one.curve.map((point) => ({ x: point.classes, y: point.F, label: one.name, note: `${count(point.classes)} classes: ${count(point.F)}` }));
        return chart(`Leaving-one-out F over the number of classes: ${count(one.classes)} chosen`, () => ({
          marginLeft: 70, height: 260, x: { type: "log", label: "number of classes", tickFormat: short, axis: null }, y: { label: "F", grid: true, tickFormat: short },
          marks: [Plot.axisX(curveTicks(one.curve), { text: short, label: "number of classes", labelAnchor: "center", labelArrow: "none", labelOffset: 38 }), Plot.ruleX([one.classes], { stroke: "currentColor", strokeDasharray: "4 3" }), ...lineMarks(curve, labels)],
        }));
      }),
    ),
    ...histories.map((one) =>
      element("details", {}, element("summary", {}, `Every sweep of ${one.name}`),
        table(`Sweeps of ${one.name}`, [
          { heading: "sweep", number: true, cell: (sweep) => count(sweep.sweep) },
          { heading: "kind", cell: (sweep) => sweep.kind },
          { heading: "moved", number: true, cell: (sweep) => count(sweep.moved) },
          { heading: "F", number: true, cell: (sweep) => figure(sweep.F, 1) },
          { heading: "seconds", number: true, cell: (sweep) => figure(sweep.seconds, 3) },
        ], one.sweeps)),
    ),
  ];
  return parts.filter(Boolean);
}
