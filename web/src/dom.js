// Elements made without markup: whatever comes from data becomes text, never HTML.

/** Make an element; properties that start with "on" are listeners, the rest attributes. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A word of any script: its direction does not disturb what stands around it. */
export const word = (text, properties = {}) => element("bdi", properties, text);

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
export const count = (value) => whole.format(value);
export const figure = (value, digits = 1) =>
  new Intl.NumberFormat("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
export const percent = (share) => (share < 0.0995 ? `${figure(100 * share, 1)}\u00a0%` : `${figure(100 * share, 0)}\u00a0%`);
/** A probability in words that do not need an exponent. */
export const probability = (value) => (value >= 0.001 ? percent(value) : `1 in ${count(1 / value)}`);

/** A table with a caption; columns: {heading, cell(row), number, sort}. */
export function table(caption, columns, rows) {
  const head = columns.map((column) =>
    element("th", { scope: "col", class: column.number ? "number" : null }, column.heading),
  );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      columns.map((column, index) =>
        element(index ? "td" : "th", { scope: index ? null : "row", class: column.number ? "number" : null }, column.cell(row)),
      ),
    ),
  );
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)),
  );
}

/** A choice among names, with its label; calls back with the index. */
export function choice(label, names, chosen, changed) {
  const select = element(
    "select",
    { onchange: () => changed(select.selectedIndex) },
    names.map((name, index) => element("option", { selected: index === chosen }, name)),
  );
  return element("label", { class: "choice" }, element("span", {}, label), select);
}

/** Let the reader save rows as tab-separated values. */
export function downloadButton(name, rows) {
  const save = () => {
    const clean = (cell) => String(cell).replace(/[\t\n\r]/g, " ");
    const text = rows().map((row) => row.map(clean).join("\t") + "\n").join("");
    const url = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  return element("button", { type: "button", class: "download", onclick: save }, "Download TSV");
}

/** Show some rows and a button for more. */
export function gradually(rows, make, step, into) {
  let shown = 0;
  const more = element("button", { type: "button", class: "more", onclick: () => show() });
  const show = () => {
    into.append(...rows.slice(shown, shown + step).map(make));
    shown = Math.min(shown + step, rows.length);
    more.textContent = `Show more (${count(rows.length - shown)} left)`;
    more.hidden = shown === rows.length;
  };
  show();
  return more;
}
