# SPDX-License-Identifier: BSD-3-Clause
"""netfc-conform as a test of PTF, which bf-sde runs against its model or a switch: docs/p4.md."""

import shlex
import subprocess

from ptf.base_tests import BaseTest
from ptf.testutils import test_param_get


class Conform(BaseTest):
    """Passes if nothing that the switch offers fails."""

    def runTest(self):  # noqa: N802
        """Parameter conform: the words of netfc-conform, the switch's address first."""
        done = subprocess.run(["netfc-conform", *shlex.split(test_param_get("conform"))], check=False)
        self.assertEqual(done.returncode, 0, "see what netfc-conform has printed")
