// The arithmetic of Hangul syllables (The Unicode Standard, section 3.12).

const FIRST = 0xac00;
const END = 0xd7a4;
const LEAD = 0x1100;
const VOWEL = 0x1161;
const TAIL = 0x11a7; // the one before the first tail
const LEADS = 19;
const VOWELS = 21;
const TAILS = 28;

export const Hangul = {
  isSyllable: (codePoint) => codePoint >= FIRST && codePoint < END,

  lead: (syllable) => LEAD + Math.floor((syllable - FIRST) / (VOWELS * TAILS)),

  vowel: (syllable) => VOWEL + (Math.floor((syllable - FIRST) / TAILS) % VOWELS),

  /** The tail of a syllable, or -1. */
  tail(syllable) {
    const number = (syllable - FIRST) % TAILS;
    return number === 0 ? -1 : TAIL + number;
  },

  /** The lead, the vowel and the tail of a syllable, if it has one. */
  parts(syllable) {
    const parts = [Hangul.lead(syllable), Hangul.vowel(syllable)];
    const tail = Hangul.tail(syllable);
    return tail < 0 ? parts : [...parts, tail];
  },

  /** Whether a character may be the second part of a syllable. */
  isSecond: (codePoint) => isVowel(codePoint) || isTail(codePoint),

  /** The syllable of two parts, or -1. */
  compose(first, second) {
    if (first >= LEAD && first < LEAD + LEADS && isVowel(second)) {
      return FIRST + ((first - LEAD) * VOWELS + second - VOWEL) * TAILS;
    }
    const isOpen = Hangul.isSyllable(first) && Hangul.tail(first) < 0;
    return isOpen && isTail(second) ? first + second - TAIL : -1;
  },

  /** Calls `action` with each syllable. */
  forEachSyllable(action) {
    for (let codePoint = FIRST; codePoint < END; codePoint++) action(codePoint);
  },

  /** Calls `action` with each vowel and tail, which may be the second part of a syllable. */
  forEachSecond(action) {
    for (let codePoint = VOWEL; codePoint < VOWEL + VOWELS; codePoint++) action(codePoint);
    for (let codePoint = TAIL + 1; codePoint < TAIL + TAILS; codePoint++) action(codePoint);
  },
};

function isVowel(codePoint) {
  return codePoint >= VOWEL && codePoint < VOWEL + VOWELS;
}

function isTail(codePoint) {
  return codePoint > TAIL && codePoint < TAIL + TAILS;
}
