/**
 * Makes an element. Texts become text nodes, so that nothing that a person typed, or a file contains, is read as HTML.
 *
 * @param {string} tag
 * @param {Record<string, string | boolean | ((event: Event) => void)>} attributes `class` and others; those that are false are left out,
 *   and `onclick` and the like are listeners
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/**
 * @param {string} id
 * @returns {HTMLElement} the element of the page with an id
 */
export function byId(id) {
  return document.getElementById(id);
}

const shownValues = new WeakMap();

/**
 * Shows a text in a field, once: what a person types afterwards stays.
 *
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 * @param {string} text
 */
export function showValue(field, text) {
  if (shownValues.get(field) === text) return;
  shownValues.set(field, text);
  if (field.value !== text) field.value = text;
}

/**
 * Changes the text of an element only if it differs, so that selections stay and screen readers do not read it again.
 *
 * @param {HTMLElement} target
 * @param {string} text
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
