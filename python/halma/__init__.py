"""Halma answers hard questions over your own documents, hop by hop, and shows its work.

The package brings the program ``halma``; ``find_halma()`` is its path.
"""

from halma._program import find_halma

__all__ = ["find_halma"]
