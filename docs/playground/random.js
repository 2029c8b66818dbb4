// SPDX-License-Identifier: BSD-3-Clause
// Random words that are the same for everyone: multiply with carry, Marsaglia 1994.

// A function that gives 16 random bits at each call.
function randomWords(state) {
  return () => {
    state = (Math.imul(36969, state & 0xffff) + (state >>> 16)) >>> 0;
    return state & 0xffff;
  };
}
