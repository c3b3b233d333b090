/**
 * Phrases to search and to measure with: those of kerasbert's bundled assistant data, each once.
 *
 * They are a file of the site, `samples.json`: {"phrases": [text, ...]}.
 *
 * @param {string} url the file's address
 * @returns {() => Promise<string[]>} reads them; the file is fetched once
 */
export function samplesFrom(url) {
  let phrases = null;
  return () => {
    phrases ??= fetchPhrases(url).catch((error) => {
      phrases = null; // the next call tries again
      throw error;
    });
    return phrases;
  };
}

async function fetchPhrases(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const { phrases } = await response.json();
  return phrases;
}
