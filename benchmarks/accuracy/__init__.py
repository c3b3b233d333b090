"""Accuracy of quantized, pruned and distilled models against their float originals."""
