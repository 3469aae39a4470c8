"""Value and gradient of 22 workloads, by zygote_lite, by hand and by other engines.

`python -m benchmarks` runs them; `python -m benchmarks --help` lists the options. The modules, in
the order in which data flows: `process` pins the process, `workloads` has what is differentiated,
`engines` what differentiates it, `agreement` checks that all give the same, `runner` times them,
`table` and `plot` show the figures.

Each workload is a function as a user writes it, and its gradient by hand: the reverse of the same
program, as an expert writes it in plain Python and NumPy, with what is shared computed once and
nothing computed for arguments that are not differentiated. Where an expert would also change the
algorithm (forward mode, one product for all steps, no array where a list is faster), that is a
column of its own, `rewritten`: it is no measure of an engine, but should not be hidden.

The other engines get the same program in their own words, once more by hand: the same loop over
scalars in autograd, PyTorch and MyGrad; `lax.scan` or array code in JAX, which does not run Python;
the reverse loop compiled by Numba, which has no gradients. All work in float64, on the CPU.

The scripts beside these modules measure one thing each, and are run by themselves.
"""
