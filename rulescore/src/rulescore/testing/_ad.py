"""The AD that `check_rrule` hands to rules for functions that take functions."""

from typing import Any

import numpy as np

from rulescore._table.resolution import rrule
from rulescore.testing._differences import derivatives
from rulescore.testing._leaves import is_integer, is_number


def by_rule_or_differences(f: Any, /, *xs: Any, **options: Any) -> tuple[Any, Any]:
    """Differentiate by rule, or by finite differences where there is none."""
    found = rrule(f, *xs, ad=by_rule_or_differences, **options)
    return found if found is not None else _numerical(f, xs, options)


def _numerical(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    def pullback(dy: Any) -> tuple[Any, ...]:
        def gradient(position: int, x: Any) -> Any:
            if not is_number(x) or is_integer(x):
                return None
            dx = np.zeros(np.shape(x), np.result_type(x))
            units = (1.0, 1j) if np.iscomplexobj(dx) else (1.0,)
            for index in np.ndindex(dx.shape):
                for unit in units:
                    v = np.zeros_like(dx)
                    v[index] = unit
                    found, _ = derivatives(
                        lambda *xs: f(*xs, **options), xs, position, v if dx.ndim else v[()], dy
                    )
                    dx[index] += unit * found[0]
            return dx if isinstance(x, np.ndarray) else type(x)(dx[()])

        return None, *(gradient(i, x) for i, x in enumerate(xs))

    return f(*xs, **options), pullback
