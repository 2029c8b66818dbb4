# SPDX-License-Identifier: BSD-3-Clause
"""What tests of pages share: a browser, and the playground, built once."""

from browser import one_browser  # noqa: F401  pylint: disable=unused-import
from playground import built_page  # noqa: F401  pylint: disable=unused-import
