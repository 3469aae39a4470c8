"""Random numbers: draws without parameters are constant, scaled draws follow their parameters.

With the state of the generator held, a draw from a family of location and scale is a smooth
function of them (the reparameterization of Kingma and Welling, 2014). Other families (gamma, beta,
poisson, ...) have no rule, so that a gradient through their parameters is refused, not lost.
"""

import numpy as np

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.random", may_raise=False)

Generator, RandomState = np.random.Generator, np.random.RandomState

rule.constant(np.random.default_rng, np.random.seed, np.random.get_state, np.random.set_state)
rule.constant(np.random.rand, np.random.randn, np.random.random, np.random.random_sample)
rule.constant(np.random.ranf, np.random.sample, np.random.randint, np.random.bytes)
rule.constant(np.random.standard_normal, np.random.standard_exponential)
rule.constant(np.random.standard_cauchy, np.random.SeedSequence, RandomState)
rule.constant(Generator.random, Generator.integers, Generator.bytes, Generator.standard_normal)
rule.constant(Generator.standard_exponential, Generator.standard_cauchy)
rule.constant(RandomState.rand, RandomState.randn, RandomState.random_sample)
rule.constant(RandomState.random, RandomState.randint, RandomState.bytes)
rule.constant(RandomState.standard_normal, RandomState.standard_exponential)
rule.constant(RandomState.standard_cauchy)


def declare_location_scale(name):
    """Declare the rules of a family `location + scale * draw`, as function and as method."""
    draw, method = getattr(np.random, name), getattr(Generator, name)

    @rule(draw)
    def _(location: Numeric, scale: Numeric, size=None):
        y = draw(location, scale, size)

        def pullback(dy):
            return project(dy, location), project(dy * standard(y, location, scale), scale)

        return y, pullback

    @rule(method, getattr(RandomState, name))
    def _(generator: Generator | RandomState, location: Numeric, scale: Numeric, size=None):
        y = getattr(generator, name)(location, scale, size)

        def pullback(dy):
            return None, project(dy, location), project(dy * standard(y, location, scale), scale)

        return y, pullback

    @rule(draw)
    def _(location: Numeric, *, size=None):
        def pullback(dy):
            return (project(dy, location),)

        return draw(location, size=size), pullback

    @rule(method, getattr(RandomState, name))
    def _(generator: Generator | RandomState, location: Numeric, *, size=None):
        def pullback(dy):
            return None, project(dy, location)

        return getattr(generator, name)(location, size=size), pullback


def standard(y, location, scale):
    """Return the draw behind `y = location + scale * draw`; at scale zero it is lost, and 0."""
    return (y - location) / np.where(np.equal(scale, 0), 1.0, scale)


def declare_scale(name):
    """Declare the rules of a family `scale * draw`, as function and as method."""
    draw, method = getattr(np.random, name), getattr(Generator, name)

    @rule(draw)
    def _(scale: Numeric, size=None):
        y = draw(scale, size)

        def pullback(dy):
            return (project(dy * standard(y, 0.0, scale), scale),)

        return y, pullback

    @rule(method, getattr(RandomState, name))
    def _(generator: Generator | RandomState, scale: Numeric, size=None):
        y = getattr(generator, name)(scale, size)

        def pullback(dy):
            return None, project(dy * standard(y, 0.0, scale), scale)

        return y, pullback


for name in ("normal", "laplace", "logistic", "gumbel"):
    declare_location_scale(name)
for name in ("exponential", "rayleigh"):
    declare_scale(name)


@rule(np.random.uniform)
def _(low: Numeric, high: Numeric, size=None):
    y = np.random.uniform(low, high, size)

    def pullback(dy):
        share = standard(y, low, np.subtract(high, low))
        return project(dy * (1 - share), low), project(dy * share, high)

    return y, pullback


@rule(Generator.uniform, RandomState.uniform)
def _(generator: Generator | RandomState, low: Numeric, high: Numeric, size=None):
    y = generator.uniform(low, high, size)

    def pullback(dy):
        share = standard(y, low, np.subtract(high, low))
        return None, project(dy * (1 - share), low), project(dy * share, high)

    return y, pullback


def declare_without_parameters(name):
    """Declare that a draw with no parameters given carries no gradient."""
    draw, method = getattr(np.random, name), getattr(Generator, name)

    @rule(draw)
    def _(*, size=None):
        def pullback(dy):
            return ()

        return draw(size=size), pullback

    @rule(method, getattr(RandomState, name))
    def _(generator: Generator | RandomState, *, size=None):
        def pullback(dy):
            return (None,)

        return getattr(generator, name)(size=size), pullback


for name in ("normal", "laplace", "logistic", "gumbel", "exponential", "rayleigh", "uniform"):
    declare_without_parameters(name)


@rule(RandomState.permutation, Generator.permutation)
def _(generator: Generator | RandomState, x: int):
    """Draw a permutation of so many numbers; one of an array has no rule."""
    return generator.permutation(x), lambda dy: (None, None)


@rule(RandomState.choice, Generator.choice)
def _(generator: Generator | RandomState, x: int, size=None, replace=True, *, p=None):
    """Choose some of so many numbers; a choice from an array has no rule."""
    return generator.choice(x, size, replace, p), lambda dy: (None, None)
