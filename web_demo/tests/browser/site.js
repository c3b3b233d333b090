import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Builds a site with the zoo's models, as `kerasbert web` does.
 *
 * KERASBERT_SITE names one that is built already; KERASBERT_PYTHON the Python that has kerasbert.
 *
 * @returns {{folder: string, remove: () => void}}
 */
export function buildSite() {
  if (process.env.KERASBERT_SITE) return { folder: process.env.KERASBERT_SITE, remove: () => {} };
  const parent = mkdtempSync(join(tmpdir(), "kerasbert-site-"));
  const folder = join(parent, "site");
  runKerasbert(["web", "--out", folder], ROOT);
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/**
 * The number of a site's models for some tasks.
 *
 * @param {{folder: string}} site
 * @param {string[]} tasks as in the site's list, such as `single_label`
 * @returns {number}
 */
export function countModels(site, tasks) {
  const { models } = JSON.parse(readFileSync(join(site.folder, "models", "index.json"), "utf8"));
  return models.filter(({ task }) => tasks.includes(task)).length;
}

/**
 * Runs a command of kerasbert in Python.
 *
 * @param {string[]} words those behind `kerasbert`
 * @param {string} folder the one to run it in
 * @returns {string} what it prints
 */
export function runKerasbert(words, folder) {
  const env = { ...process.env, PYTHONPATH: ROOT };
  const options = { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  return execFileSync(python(), ["-m", "kerasbert", ...words], options);
}

function python() {
  const own = join(ROOT, ".venv", "bin", "python");
  return process.env.KERASBERT_PYTHON ?? (existsSync(own) ? own : "python3");
}
