_core.__prefix__:
    \from typing import TypeVar
    T = TypeVar("T")
    V = TypeVar("V")
