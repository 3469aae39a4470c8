"""The workloads, in the order of the table."""

from benchmarks.workloads import (
    arrays,
    elements,
    fits,
    networks,
    objects,
    options,
    recursions,
    scalars,
)

WORKLOADS = (
    scalars.EXPRESSION,
    scalars.LOOP,
    networks.MOONS,
    networks.MNIST,
    arrays.CHAIN_1E3,
    arrays.CHAIN_1E6,
    options.OPTIONS_1E3,
    options.OPTIONS_1E6,
    networks.RNN,
    scalars.SCALAR_MLP,
    scalars.LOTKA_VOLTERRA,
    scalars.LOOP_WITH_TRY,
    arrays.HEAT,
    networks.LOGISTIC,
    elements.MATMUL,
    elements.INDEXING,
    fits.TRAJECTORY,
    fits.CURVE_FIT,
    networks.HVP,
    objects.LAYERS,
    objects.KALMAN,
    objects.BODIES,
    recursions.TREE,
)
