import { FailedError, failure, FailureKind } from "../state/failure.js";

/**
 * Reads the bytes of a model.
 *
 * @type {import("./models.js").ReadModel}
 * @throws {FailedError} when the file cannot be read or fetched
 */
export async function readModel(model, report) {
  return model.file ? readFile(model) : fetchFile(model, report);
}

async function readFile({ name, file }) {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    const detail = `expected the file ${name}, received none (${error.message}); open it again`;
    throw new FailedError(failure(FailureKind.UNREADABLE_MODEL, detail));
  }
}

async function fetchFile({ name, url, bytes }, report) {
  const response = await fetch(url).catch(() => null);
  if (!response?.ok) {
    const received = response ? `status ${response.status}` : "no answer";
    throw new FailedError(failure(FailureKind.DOWNLOAD, `expected the file ${url} of the model ${name}, received ${received}; try again`));
  }
  try {
    return await readStream(response, bytes, report);
  } catch (error) {
    throw new FailedError(failure(FailureKind.DOWNLOAD, `expected the whole file ${url}, received a part (${error.message}); try again`));
  }
}

async function readStream(response, bytes, report) {
  const pieces = [];
  let received = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    received += value.length;
    report(received, bytes);
  }
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes`);
  return joined(pieces, received);
}

function joined(pieces, size) {
  const content = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    content.set(piece, at);
    at += piece.length;
  }
  return content;
}
