"""Where the program is that the package has installed."""

from __future__ import annotations

import os
import sys
import sysconfig


def find_halma() -> str:
    """Return the path of the program ``halma``.

    Raises ``FileNotFoundError`` if the package was installed without it.
    """
    name = "halma.exe" if sys.platform == "win32" else "halma"
    schemes = ["", sysconfig.get_preferred_scheme("user")]
    folders = [
        sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        for scheme in schemes
    ]
    # `pip install --target` puts the program into `bin` next to the package.
    package = os.path.dirname(os.path.abspath(__file__))
    folders.append(os.path.join(os.path.dirname(package), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"`{name}` is in none of: {', '.join(folders)}")
