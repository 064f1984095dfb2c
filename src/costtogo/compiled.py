"""Functions that numba compiles, without loading numba before one of them is needed: that takes half a second."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any


class Kernel:
    """A function that is compiled, or read from numba's cache, when it is first needed.

    To numba it is the compiled function itself, so kernels call each other as usual.
    """

    def __init__(self, function: Callable, by_python: int, options: dict[str, Any]):
        self.function, self.by_python, self.options = function, by_python, options
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *given: Any) -> Any:
        if self.by_python:
            self.by_python = max(self.by_python - given[0].size, 0)
            if self.by_python:
                return self.function(*given)
        return self.dispatcher(*given)

    @cached_property
    def dispatcher(self) -> Any:
        """numba's function; numba is loaded now."""
        from numba import njit as compiled

        return compiled(**self.options)(self.function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher, name)


def njit(by_python: int = 0, **options: Any) -> Callable[[Callable], Kernel]:
    """numba.njit, late.

    by_python: elements of first arguments, over all calls, that Python itself handles before anything is compiled: of
    functions that a search of one state calls for a few states only.
    """
    return partial(Kernel, by_python=by_python, options=options)
