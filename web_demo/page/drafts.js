const KEY = "kerasbert drafts";

/**
 * Texts that a person typed, which survive that the page loads a newer version of itself. They are in the tab's memory only.
 *
 * @typedef {{panel: string, classify: string, text: string, question: string, query: string, teach: string}} Drafts
 */

/** @param {Drafts} drafts */
export function saveDrafts(drafts) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(drafts));
  } catch {
    // Without storage, or with texts that do not fit, the newer version starts empty.
  }
}

/** @returns {Drafts | null} what was saved, which is forgotten */
export function takeDrafts() {
  try {
    const saved = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return saved && JSON.parse(saved);
  } catch {
    return null;
  }
}
