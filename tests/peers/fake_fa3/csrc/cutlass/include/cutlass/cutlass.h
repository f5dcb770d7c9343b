// Instead of CUTLASS.
