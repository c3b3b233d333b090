/**
 * Copies a text.
 *
 * @param {string} text
 * @returns {Promise<boolean>} whether the browser allowed it; without HTTPS it does not
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
