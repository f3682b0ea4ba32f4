"""Both clients: ``Halma`` returns when an answer is there, ``AsyncHalma`` is awaited."""

from halma._async.client import AsyncHalma
from halma._sync.client import Halma

__all__ = ["AsyncHalma", "Halma"]
