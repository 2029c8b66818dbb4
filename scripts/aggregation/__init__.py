# SPDX-License-Identifier: BSD-3-Clause
"""The switch as the place where workers' vectors are added up: a demonstration."""
