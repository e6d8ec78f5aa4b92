// Bundles the page's script and style into the Python package: npm ci && npm run build.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = "../src/classgram/reporting/assets";
mkdirSync(target, { recursive: true });

const { metafile } = await build({
  entryPoints: ["src/main.js", "src/page.css"],
  entryNames: "page",
  bundle: true,
  minify: true,
  format: "iife",
  charset: "ascii",
  legalComments: "none",
  target: ["es2022"],
  outdir: target,
  metafile: true,
});

// The style that Plot adds to each chart, word for word: the page's policy names its digest.
const plot = readFileSync("node_modules/@observablehq/plot/src/plot.js", "utf8");
const template = plot.match(/append\("style"\)\.text\(\s*`([^`]*)`/);
if (!template) throw new Error("Plot's style is not where it was; look for it in its plot.js");
const { CHART_CLASS } = { CHART_CLASS: readFileSync("src/charts.js", "utf8").match(/CHART_CLASS = "(\w+)"/)[1] };
writeFileSync(`${target}/inline-styles.json`, JSON.stringify([template[1].replaceAll("${className}", CHART_CLASS)]) + "\n");

// The licences of all that is bundled.
const packages = new Set(
  Object.keys(metafile.inputs).map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]).filter(Boolean),
);
const licences = [...packages].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} comes without a licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync(`${target}/THIRD_PARTY_LICENSES`, licences.join(`\n${"-".repeat(80)}\n\n`));

// The digest of the sources: a test compares it with them, so that the bundle cannot fall behind.
const digest = createHash("sha256");
for (const name of ["build.mjs", "package-lock.json", ...readdirSync("src").sort().map((one) => `src/${one}`)]) {
  digest.update(`${name}\n`).update(readFileSync(name)).update("\n");
}
const built = createHash("sha256").update(readFileSync(`${target}/page.js`)).update(readFileSync(`${target}/page.css`));
writeFileSync(`${target}/digests.json`, JSON.stringify({ sources: digest.digest("hex"), bundle: built.digest("hex") }) + "\n");
