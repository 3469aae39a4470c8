"""Why a derivative by an argument is refused."""

import numpy as np

ORDER = "no formula for derivatives by the order is accurate everywhere"
PARAMETER = "no formula for derivatives by this parameter is accurate everywhere"
INTEGER = "the function is defined for integers only"


def refuse_complex(f, x):
    """Refuse a complex argument of a function that is analytic for no complex one."""
    if np.iscomplexobj(x):
        raise NotImplementedError(
            f"scipy.special.{f.__name__} is not analytic, and has no rule for complex arguments: "
            "give it real ones"
        )
    return x
