// Build one HTML file from src/, with styles and script inside: node build.mjs [output]
// The stamp is a checksum of all sources. With it, a test checks without npm that the page is up to date.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name));

function stampSources() {
  const sources = readdirSync(join(here, "src")).map((name) => `src/${name}`);
  const files = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json", ...sources].sort();
  const hash = createHash("sha256");
  for (const name of files) hash.update(name).update("\0").update(read(name)).update("\0");
  return hash.digest("hex");
}

async function bundle(name, options = {}) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [`src/${name}`],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    target: "es2022",
    ...options,
  });
  return result.outputFiles[0].text.trim();
}

const allow = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("main.ts", { format: "iife" });
const style = await bundle("style.css");
if (/<\/script|<!--/i.test(script)) throw new Error("the script contains text that ends it inside HTML");
const policy = [
  "default-src 'none'",
  `script-src ${allow(script)}`,
  `style-src ${allow(style)}`,
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STAMP: stampSources(), STYLE: style, SCRIPT: script };
const page = read("src/index.html")
  .toString()
  .replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
writeFileSync(process.argv[2] ?? join(here, "../src/gitcluster/explorer/page.html"), page);
