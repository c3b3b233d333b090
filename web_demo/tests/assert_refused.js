import assert from "node:assert/strict";

import { KerasBertError } from "../core/error.js";

/** Asserts that a call is refused, in one line that says what was expected and received, and has `part` in it. */
export function assertRefused(part, action) {
  assert.throws(action, (error) => isRefusal(error, part));
}

/** As `assertRefused`, of a call that returns a promise. */
export async function assertRejected(part, action) {
  await assert.rejects(action, (error) => isRefusal(error, part));
}

function isRefusal(error, part) {
  assert.ok(error instanceof KerasBertError, error.stack);
  assert.ok(error.message.includes(part), `expected '${part}' in the message, received: ${error.message}`);
  assert.match(error.message, /^.*expected .*received .*$/);
  return true;
}
