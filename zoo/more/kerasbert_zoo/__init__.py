"""The weights of more models of kerasbert's zoo. `kerasbert.zoo` has their catalog, cards, recipes and checksums."""
