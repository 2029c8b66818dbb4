# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the NetFC paper (ICNP 2021), section V: tables II (accuracy) and III (MSE).

Keys are operations and data sets as in this package. Accuracies are in percent.
"""

FORMATS = ("fp16", "posit16")
SETS = {"fp16": "fp16_k1024", "posit16": "posit16_k512"}

MEASURES = ("average", "median", "minimum")
# format, operation, data set: these.
ACCURACY = {
    ("fp16", "+,-", "I"): (99.94, 99.94, 77.88),
    ("fp16", "+,-", "II"): (99.95, 100.00, 68.55),
    ("fp16", "+,-", "III"): (99.96, 100.00, 76.74),
    ("fp16", "x", "I"): (99.96, 100.00, 60.65),
    ("fp16", "x", "II"): (99.94, 100.00, 71.65),
    ("fp16", "x", "III"): (99.97, 100.00, 36.79),
    ("fp16", "/", "I"): (99.96, 100.00, 95.56),
    ("fp16", "/", "II"): (99.98, 100.00, 99.85),
    ("fp16", "/", "III"): (99.98, 100.00, 99.88),
    ("posit16", "+,-", "I"): (99.86, 99.91, 36.79),
    ("posit16", "+,-", "II"): (99.86, 99.94, 36.79),
    ("posit16", "x", "I"): (99.91, 99.94, 93.11),
    ("posit16", "x", "II"): (99.87, 99.87, 93.11),
    ("posit16", "/", "I"): (99.91, 99.94, 89.48),
    ("posit16", "/", "II"): (99.95, 99.96, 98.20),
}

# data set: average, median, minimum of float-to-integer, + and -.
BASELINE = {
    "I": (48.19, 36.79, 13.72),
    "II": (84.83, 99.93, 4.54),
    "III": (95.28, 99.24, 0.01),
}

# operation, data set: MSE of NetFC, fp16.
MSE = {
    ("+,-", "I"): 91.32,
    ("+,-", "II"): 2.60e-8,
    ("+,-", "III"): 1.95e-13,
    ("x", "I"): 28.13,
    ("x", "II"): 1.52e-9,
    ("x", "III"): 2.72e-16,
    ("/", "I"): 27.29,
    ("/", "II"): 0.98,
    ("/", "III"): 1.12e-4,
}

# data set: MSE of float-to-integer, + and -.
BASELINE_MSE = {"I": 198106067.16, "II": 0.11, "III": 4.17e-11}

# The factor that the paper's text names, and the one that its figures show.
FACTOR, FACTOR_OF_FIGURES = 10000, 100000

# Section III.C: bytes in all.
TABLE_BYTES = 448 * 1024
# The journal version (2022), binary32: accuracy in percent, bytes.
JOURNAL_ACCURACY = "99.1"
JOURNAL_BYTES = 496 * 1024
# Section IV.C: what merging equal neighbours saves.
MERGING_SAVES_PERCENT = 25
