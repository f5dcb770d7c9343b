"""Compares the built lessons with what PyTorch and Triton offer for the same problem. Optional: see peers/README.md."""
