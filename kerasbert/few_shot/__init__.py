"""Labels taught by a few examples each, on a sentence encoder that is not trained."""
