/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CPU_H
#define CPU_H

/** @file A row of fp16 results, computed by the CPU's own arithmetic. */

#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

/** Whether this CPU has AVX and F16C. */
bool cpu_can(void);

/** One x with every y: results, NaN being 0x7e00, and the flags that follow from their meaning. */
void cpu_compute(enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags);

#endif /* CPU_H */
