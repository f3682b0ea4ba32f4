"""Both clients: ``Halma`` returns when an answer is there, ``AsyncHalma`` is awaited."""

from halma.async_client import AsyncHalma
from halma.sync_client import Halma

__all__ = ["AsyncHalma", "Halma"]
