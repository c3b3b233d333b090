"""What pretraining masks together: a token, all tokens of a word, up to three words, a span of words, or an entity. Needs no NumPy."""

UNITS = ("tokens", "words", "n-grams", "spans", "entities")
