import { KerasBertError } from "../core/error.js";
import { Arguments, USAGE } from "./arguments.js";
import { note, printText } from "./streams.js";

// The words that each command takes, itself included. Its module has the same name, and is loaded when it runs.
const COMMANDS = new Map([
  ["tokenize", ["tokenize", "MODEL"]],
  ["predict", ["predict", "MODEL"]],
  ["search", ["search", "MODEL", "TEXTS"]],
  ["inspect", ["inspect", "MODEL"]],
]);
const HELP = ["-h", "--help", "help"];
const SUCCESS = 0;
const FAILURE = 1;
const BAD_INPUT = 2;

/**
 * Runs a command.
 *
 * @param {string[]} words the words of the command line.
 * @returns {Promise<number>} the exit code of `kerasbert`: 0 on success, 2 for a wrong input, 1 for other failures.
 */
export async function main(words) {
  process.stdout.on("error", () => {}); // the write that failed has the error too
  try {
    return await run(words);
  } catch (error) {
    return tell(error);
  }
}

async function run(words) {
  if (words.length === 0 || HELP.includes(words[0]) || words.includes("--help")) {
    await printText(`${USAGE}\n`);
    return SUCCESS;
  }
  const given = new Arguments(words);
  const name = given.get(0);
  const expected = COMMANDS.get(name);
  if (expected === undefined) {
    throw new KerasBertError(`expected a command among ${[...COMMANDS.keys()].join(", ")}, received ${name}; see --help`);
  }
  if (given.size !== expected.length) throw new KerasBertError(`expected ${expected.join(" ")}, received ${given.size} words; see --help`);
  const command = await import(`./${name}.js`);
  return (await command.run(given)) ?? SUCCESS;
}

/** Prints what went wrong in one line, and returns the exit code. A fault of the program is thrown on. */
function tell(error) {
  if (error instanceof KerasBertError) {
    note(`error: ${oneLine(error)}`);
    return BAD_INPUT;
  }
  if (error instanceof RangeError) {
    note(`error: there is not enough memory (${oneLine(error)}); try a smaller model or fewer texts`);
    return FAILURE;
  }
  if (typeof error.code !== "string") throw error;
  if (error.code !== "EPIPE") note(`error: ${oneLine(error)}`); // else the reader of the standard output has stopped
  return FAILURE;
}

function oneLine(error) {
  return error.message.split(/\r?\n|\r/).map((line) => line.trim()).join(" ");
}
