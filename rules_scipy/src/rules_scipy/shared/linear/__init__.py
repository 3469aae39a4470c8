"""What several rules for matrices need: triangles, stacks, and wrappers of LAPACK."""
