/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preprocessor repeats: one line for each number. */
#ifndef NETFC_EACH_P4
#define NETFC_EACH_P4

/* NETFC_FIRST(n)(m): m(0) m(1) ... m(n - 1). m(k) may contain NETFC_FIRST(k), but no later one. */
#define NETFC_FIRST0(m)
#define NETFC_FIRST1(m) m(0)
#define NETFC_FIRST2(m) NETFC_FIRST1(m) m(1)
#define NETFC_FIRST3(m) NETFC_FIRST2(m) m(2)
#define NETFC_FIRST4(m) NETFC_FIRST3(m) m(3)
#define NETFC_FIRST5(m) NETFC_FIRST4(m) m(4)
#define NETFC_FIRST6(m) NETFC_FIRST5(m) m(5)
#define NETFC_FIRST7(m) NETFC_FIRST6(m) m(6)
#define NETFC_FIRST8(m) NETFC_FIRST7(m) m(7)
#define NETFC_FIRST9(m) NETFC_FIRST8(m) m(8)
#define NETFC_FIRST10(m) NETFC_FIRST9(m) m(9)
#define NETFC_FIRST11(m) NETFC_FIRST10(m) m(10)
#define NETFC_FIRST12(m) NETFC_FIRST11(m) m(11)
#define NETFC_FIRST13(m) NETFC_FIRST12(m) m(12)
#define NETFC_FIRST14(m) NETFC_FIRST13(m) m(13)
#define NETFC_FIRST15(m) NETFC_FIRST14(m) m(14)
#define NETFC_FIRST16(m) NETFC_FIRST15(m) m(15)
#define NETFC_FIRST17(m) NETFC_FIRST16(m) m(16)
#define NETFC_FIRST18(m) NETFC_FIRST17(m) m(17)
#define NETFC_FIRST19(m) NETFC_FIRST18(m) m(18)
#define NETFC_FIRST20(m) NETFC_FIRST19(m) m(19)
#define NETFC_FIRST21(m) NETFC_FIRST20(m) m(20)
#define NETFC_FIRST22(m) NETFC_FIRST21(m) m(21)
#define NETFC_FIRST23(m) NETFC_FIRST22(m) m(22)
#define NETFC_FIRST24(m) NETFC_FIRST23(m) m(23)
#define NETFC_FIRST25(m) NETFC_FIRST24(m) m(24)
#define NETFC_FIRST26(m) NETFC_FIRST25(m) m(25)
#define NETFC_FIRST27(m) NETFC_FIRST26(m) m(26)
#define NETFC_FIRST28(m) NETFC_FIRST27(m) m(27)
#define NETFC_FIRST29(m) NETFC_FIRST28(m) m(28)
#define NETFC_FIRST30(m) NETFC_FIRST29(m) m(29)
#define NETFC_FIRST31(m) NETFC_FIRST30(m) m(30)
#define NETFC_FIRST32(m) NETFC_FIRST31(m) m(31)

/* NETFC_TIMES(n)(what): what, what, ... */
#define NETFC_TIMES1(...) __VA_ARGS__
#define NETFC_TIMES2(...) NETFC_TIMES1(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES3(...) NETFC_TIMES2(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES4(...) NETFC_TIMES3(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES5(...) NETFC_TIMES4(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES6(...) NETFC_TIMES5(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES7(...) NETFC_TIMES6(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES8(...) NETFC_TIMES7(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES9(...) NETFC_TIMES8(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES10(...) NETFC_TIMES9(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES11(...) NETFC_TIMES10(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES12(...) NETFC_TIMES11(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES13(...) NETFC_TIMES12(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES14(...) NETFC_TIMES13(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES15(...) NETFC_TIMES14(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES16(...) NETFC_TIMES15(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES17(...) NETFC_TIMES16(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES18(...) NETFC_TIMES17(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES19(...) NETFC_TIMES18(__VA_ARGS__), __VA_ARGS__
#define NETFC_TIMES20(...) NETFC_TIMES19(__VA_ARGS__), __VA_ARGS__

/* NETFC_HALF(n): n / 2 as a number that can be pasted. */
#define NETFC_HALF2 1
#define NETFC_HALF4 2
#define NETFC_HALF6 3
#define NETFC_HALF8 4
#define NETFC_HALF10 5
#define NETFC_HALF12 6
#define NETFC_HALF14 7
#define NETFC_HALF16 8
#define NETFC_HALF18 9
#define NETFC_HALF20 10
#define NETFC_HALF22 11
#define NETFC_HALF24 12
#define NETFC_HALF26 13
#define NETFC_HALF28 14
#define NETFC_HALF30 15
#define NETFC_HALF32 16
#define NETFC_HALF34 17
#define NETFC_HALF36 18
#define NETFC_HALF38 19
#define NETFC_HALF40 20

#define NETFC_PASTE(a, b) a##b
#define NETFC_FIRST(n) NETFC_PASTE(NETFC_FIRST, n)
#define NETFC_TIMES(n) NETFC_PASTE(NETFC_TIMES, n)
#define NETFC_HALF(n) NETFC_PASTE(NETFC_HALF, n)

#endif
