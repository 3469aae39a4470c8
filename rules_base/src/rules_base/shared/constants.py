"""Constants of the formula sheets, as Python floats."""

import math

LOG2, LOG10 = math.log(2.0), math.log(10.0)
DEGREE = math.pi / 180  # in radians
RADIAN = 180 / math.pi  # in degrees
