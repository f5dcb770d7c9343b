// In the place of CUTLASS.
