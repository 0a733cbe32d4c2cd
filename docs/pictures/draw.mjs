// Draws docs/pictures/NAME.dot as NAME.svg: `make pictures`. Arguments: the folder with node_modules, then HASH=FILE.dot for each picture.
// The first lines of a source are `// title: ...` and `// desc: ...`: what a screen reader says. Colours follow the light or dark mode.
import { readFileSync, writeFileSync } from "node:fs";
// Layout counts with a font 2 points larger than is drawn: whatever font a machine has for sans-serif, its words stay in their boxes.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.argv[2]}/`));
const { Graphviz } = await import(pathToFileURL(require.resolve("@hpcc-js/wasm-graphviz")));
const graphviz = await Graphviz.load();

const STYLE = `<style>
svg { color-scheme: light dark; --ink: #1c1e21; --line: #6b7280; --box: #f3f6fb; --edge: #175ca8; --warm: #fdeee2; --warm-edge: #d9691f; --good: #e6f3ea; --good-edge: #3b8a5a; }
text { fill: var(--ink); font-family: Helvetica, Arial, "Liberation Sans", system-ui, sans-serif; }
.node path, .node polygon, .node ellipse { fill: var(--box); stroke: var(--edge); stroke-width: 1.3; }
.warm path, .warm polygon, .warm ellipse { fill: var(--warm); stroke: var(--warm-edge); }
.good path, .good polygon, .good ellipse { fill: var(--good); stroke: var(--good-edge); }
.plain path, .plain polygon { fill: none; stroke: none; }
.edge path { stroke: var(--line); stroke-width: 1.3; }
.edge polygon { fill: var(--line); stroke: var(--line); }
.cluster path, .cluster polygon { fill: none; stroke: var(--line); stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e6e8eb; --line: #9aa3af; --box: #16273c; --edge: #7fb2f0; --warm: #3a2415; --warm-edge: #f0a367; --good: #15301f; --good-edge: #74c493; }
}
</style>`;
const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

for (const argument of process.argv.slice(3)) {
  const [hash, file] = argument.split("=");
  const source = readFileSync(file, "utf8");
  const said = (key) => {
    const line = source.match(new RegExp(`^// ${key}: (.+)$`, "m"));
    if (!line) throw new Error(`${file}: no line \`// ${key}: ...\`: say what the picture shows`);
    return escape(line[1]);
  };
  const head = `role="img" aria-labelledby="title desc"`;
  const svg = graphviz.dot(source, "svg");
  const open = svg.match(/<svg width="(\d+)pt" height="(\d+)pt"\s+viewBox="([^"]+)"[^>]*>/);
  const body = svg.slice(svg.indexOf(open[0]) + open[0].length)
    .replace(/<title>[^<]*<\/title>\n?/g, "").replace(/<!--[^>]*-->\n?/g, "").replace(/ font-family="[^"]*"/g, "").replace(/ font-size="([\d.]+)"/g, (_, size) => ` font-size="${size - 2}"`)
    .replace(/<polygon fill="white" stroke="(none|transparent)"[^>]*\/>\n?/, "");
  writeFileSync(file.replace(/\.dot$/, ".svg"),
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${Math.round(open[1] * 4 / 3)}" height="${Math.round(open[2] * 4 / 3)}" viewBox="${open[3]}" ${head}>\n` +
    `<!-- source: ${hash} -->\n<title id="title">${said("title")}</title>\n<desc id="desc">${said("desc")}</desc>\n${STYLE}\n${body.trim()}\n`);
}
