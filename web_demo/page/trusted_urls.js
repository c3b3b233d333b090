/** The scripts that this page starts beside its modules. */
const SCRIPTS = ["worker.js", "sw.js"];

// The page's policy forbids scripts from any other text, see the policy in index.html.
const policy = globalThis.trustedTypes?.createPolicy("kerasbert", { createScriptURL: checked });

/**
 * @param {string} url the address of a script of this site, relative to the page
 * @returns {string | TrustedScriptURL}
 */
export function scriptUrl(url) {
  return policy ? policy.createScriptURL(url) : checked(url);
}

function checked(url) {
  if (SCRIPTS.includes(url.split("?")[0])) return url;
  throw new TypeError(`expected one of ${SCRIPTS.join(", ")}, received ${url}`);
}
