import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { KerasBertError } from "../core/error.js";
import { note } from "./streams.js";

const CORE = "@litertjs/core";
const SCOPE = "@litertjs";
const FOLDER_VARIABLE = "KERASBERT_LITERTJS";
const DEMO = fileURLToPath(new URL("../", import.meta.url));
const OWN = join(DEMO, "node_modules");
const NPM = ["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
// The first line of an error that is a sentence, and not the name of a field with its value.
const NPM_REASON = /^npm (?:error|ERR!) (?<reason>(?!(?:code|syscall|errno|address|port|path|type|cwd|dest) ).*)/;
const MOST_REASON = 200;

/**
 * Finds LiteRT.js: in `$KERASBERT_LITERTJS`, here, or where `kerasbert setup web` has it. Where it is missing, npm installs it here.
 *
 * @returns {string} the folder of the package `@litertjs/core`
 * @throws {KerasBertError} when it cannot be installed
 */
export function litertFolder() {
  const found = findLitertFolder();
  if (found === null) install(OWN);
  return found ?? join(OWN, CORE);
}

/**
 * As `litertFolder`, without installing it.
 *
 * @returns {string | null} null where it is missing
 */
export function findLitertFolder() {
  const named = process.env[FOLDER_VARIABLE];
  if (named) return namedFolder(named);
  const folders = [OWN, join(cacheFolder(), "web", "node_modules")];
  return folders.map((folder) => join(folder, CORE)).find((folder) => existsSync(join(folder, "package.json"))) ?? null;
}

function namedFolder(folder) {
  if (existsSync(join(folder, CORE, "package.json"))) return join(folder, CORE);
  throw new KerasBertError(
    `expected a folder node_modules with ${CORE} in $${FOLDER_VARIABLE}, received ${folder} without it; correct it, or leave it out`,
  );
}

/** The folder of `kerasbert setup`, as in Python. */
function cacheFolder() {
  return process.env.KERASBERT_HOME || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "kerasbert");
}

/** Installs the version of `package.json` in a new folder, whose packages are then moved: an interrupt leaves no half of them. */
function install(folder) {
  const { devDependencies } = JSON.parse(readFileSync(join(DEMO, "package.json"), "utf8"));
  const wanted = `${CORE}@${devDependencies[CORE]}`;
  note(`note: installing ${wanted} in ${folder} with npm`);
  mkdirSync(folder, { recursive: true });
  const partial = mkdtempSync(join(folder, ".installing-"));
  try {
    writeFileSync(join(partial, "package.json"), '{"private": true}');
    const { error, status, stderr } = spawnSync("npm", [...NPM, "--prefix", partial, wanted], { encoding: "utf8" });
    if (error || status !== 0) throw installError(wanted, error ? "no npm on the PATH" : reasonOf(stderr));
    move(join(partial, "node_modules", SCOPE), join(folder, SCOPE));
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Moves a folder, unless another process was faster. */
function move(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(join(to, "core", "package.json"))) throw error;
  }
}

function reasonOf(errors) {
  const line = errors.split("\n").map((each) => each.match(NPM_REASON)?.groups.reason).find(Boolean);
  return line?.slice(0, MOST_REASON) ?? "an npm that failed";
}

function installError(wanted, received) {
  return new KerasBertError(
    `expected npm to install ${wanted}, received ${received}; install it in ${DEMO}, or name a folder node_modules with it in ` +
      `$${FOLDER_VARIABLE}`,
  );
}
