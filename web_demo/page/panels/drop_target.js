/**
 * Takes files that are dropped anywhere on the page, and shows that they can be.
 *
 * @param {HTMLElement} cover shown while files are dragged over the page
 * @param {(file: File) => void} open called with the first file
 */
export function takeDroppedFiles(cover, open) {
  let inside = 0; // elements that files were dragged into and not out of
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const update = (count) => {
    inside = Math.max(0, count);
    cover.hidden = inside === 0;
  };
  addEventListener("dragenter", (event) => hasFiles(event) && update(inside + 1));
  addEventListener("dragleave", (event) => hasFiles(event) && update(inside - 1));
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    update(0);
    const [file] = event.dataTransfer.files;
    if (file) open(file);
  });
}
