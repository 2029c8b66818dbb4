# SPDX-License-Identifier: BSD-3-Clause
"""Where the libraries are that were installed with this package; empty: the system finds them.

Meson installs another one in its place, with the folder that it knows.
"""

FOLDER = ""
