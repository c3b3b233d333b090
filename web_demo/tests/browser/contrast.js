/**
 * Runs in the page: the texts, and the borders of fields, whose contrast is too low.
 *
 * @returns {string[]} one line for each
 */
export function lowContrasts() {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });

  function channels(color) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }

  function backgroundOf(element) {
    for (let each = element; each; each = each.parentElement) {
      const [red, green, blue, alpha] = channels(getComputedStyle(each).backgroundColor);
      if (alpha === 255) return [red, green, blue];
      if (alpha > 0) throw new Error(`expected opaque backgrounds, received ${alpha} of 255 at ${each.outerHTML.slice(0, 80)}`);
    }
    throw new Error("expected a page with a background, received none");
  }

  function luminance([red, green, blue]) {
    const [r, g, b] = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(one, other) {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  function isSeen(element) {
    return element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 1;
  }

  const problems = [];
  let checked = 0;
  function check(what, element, color, background, least) {
    checked += 1;
    const ratio = contrast(channels(color), background);
    const where = `${element.tagName} ${element.className} '${element.textContent.trim().slice(0, 30)}'`;
    if (ratio < least) problems.push(`${ratio.toFixed(2)} ${what} ${where}`);
  }

  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !isSeen(element) || element.closest("select, textarea, .unseen")) continue;
    check("text", element, getComputedStyle(element).color, backgroundOf(element), 4.5);
  }
  for (const field of document.querySelectorAll("main input[type=text], main input[type=search], main textarea, main select")) {
    if (!isSeen(field)) continue;
    const around = backgroundOf(field.parentElement);
    check("value", field, getComputedStyle(field).color, backgroundOf(field), 4.5);
    check("border", field, getComputedStyle(field).borderTopColor, around, 3);
    if (field.placeholder) check("placeholder", field, getComputedStyle(field, "::placeholder").color, backgroundOf(field), 4.5);
  }
  if (checked < 20) problems.push(`expected at least 20 texts, received ${checked}`);
  return problems;
}
