"""Compares the built lessons with kernels of PyTorch, FlashAttention and Triton for the same problem. Optional: see peers/README.md."""
