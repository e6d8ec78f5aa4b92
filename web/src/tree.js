// The tree of classes, opened and closed branch by branch.
import { count, element, word } from "./dom.js";

/** Nodes from merges: leaves are classes, in each merge the second joins the first. */
function treeOf(data) {
  const nodes = data.numbers.map((_, index) => ({ index, total: data.totals[index], leaves: 1, children: [] }));
  for (const [kept, joined] of data.tree) {
    const children = [nodes[kept], nodes[joined]].sort((a, b) => b.total - a.total);
    nodes[kept] = {
      index: children[0].index,
      total: children[0].total + children[1].total,
      leaves: children[0].leaves + children[1].leaves,
      children,
    };
    nodes[joined] = null;
  }
  return nodes.filter((node) => node && (node.children.length || data.tree.length === 0));
}

/** One of eight branches for each class: the largest branches are split until there are eight. */
export function branchOf(data) {
  const branches = treeOf(data);
  while (branches.length < 8) {
    const largest = branches.filter((node) => node.children.length).sort((a, b) => b.leaves - a.leaves)[0];
    if (!largest) break;
    branches.splice(branches.indexOf(largest), 1, ...largest.children);
  }
  const found = new Array(data.numbers.length).fill(0);
  const mark = (node, number) => (node.children.length ? node.children.forEach((child) => mark(child, number)) : (found[node.index] = number));
  branches.forEach((node, number) => mark(node, number % 8));
  return found;
}

export function classTree(view) {
  const { data } = view;
  const item = (node, level) => {
    const leaf = !node.children.length;
    const label = leaf
      ? [word(data.names[node.index]), element("span", { class: "aside" }, ` ${count(node.total)}`)]
      : [word(data.names[node.index]), element("span", { class: "aside" }, ` and others: ${count(node.leaves)} classes, ${count(node.total)}`)];
    const made = element("li", { role: "treeitem", tabindex: "-1", "aria-level": level, "aria-expanded": leaf ? null : "false" }, element("span", { class: "tree-label" }, label));
    const open = (wanted) => {
      if (leaf) return;
      if (wanted && !made.querySelector("ul")) made.append(element("ul", { role: "group" }, node.children.map((child) => item(child, level + 1))));
      made.setAttribute("aria-expanded", String(wanted));
    };
    made.toggle = (wanted = made.getAttribute("aria-expanded") !== "true") => (leaf ? view.open(node.index) : open(wanted));
    made.open = open;
    return made;
  };
  const roots = treeOf(data).map((node) => item(node, 1));
  const tree = element("ul", { role: "tree", class: "tree", "aria-label": "Tree of classes" }, roots);
  const visible = () => [...tree.querySelectorAll("li")].filter((one) => one.offsetParent !== null);
  const go = (to) => {
    if (!to) return;
    for (const one of tree.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
  tree.addEventListener("click", (event) => {
    const at = event.target.closest(".tree-label")?.parentElement;
    if (at) { go(at); at.toggle(); }
  });
  tree.addEventListener("keydown", (event) => {
    const at = event.target.closest("li");
    const rows = visible();
    const now = rows.indexOf(at);
    const expanded = at.getAttribute("aria-expanded");
    const keys = {
      ArrowDown: () => go(rows[now + 1]),
      ArrowUp: () => go(rows[now - 1]),
      ArrowRight: () => (expanded === "false" ? at.open(true) : go(at.querySelector("li"))),
      ArrowLeft: () => (expanded === "true" ? at.open(false) : go(at.parentElement.closest("li"))),
      Enter: () => at.toggle(),
      " ": () => at.toggle(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  roots.forEach((root) => root.open(true));
  if (roots[0]) roots[0].tabIndex = 0;
  return tree;
}
