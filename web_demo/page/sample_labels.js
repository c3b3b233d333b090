/** Labels with examples, to try *Teach* with. */
export const SAMPLE_LABELS = Object.freeze([
  {
    name: "delivery",
    examples: [
      "where is my parcel", "the package has not arrived yet", "can you ship it to another address", "how long does shipping take",
    ],
  },
  {
    name: "refund",
    examples: ["I want my money back", "how do I return this jacket", "you charged me twice", "please cancel my order"],
  },
  {
    name: "praise",
    examples: ["thank you, that was quick", "the new version is wonderful", "your support team is very kind", "I love it"],
  },
]);
