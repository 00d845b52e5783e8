#pragma once

typedef long long CBlocks_lanes __attribute__((vector_size(16), aligned(1)));

/// Whether `CBlocks_fold` can be called: its instruction came with x86-64 processors of 2010, and not with all.
static inline _Bool CBlocks_folds(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("pclmul");
#else
    return 0;
#endif
}

#if defined(__x86_64__)
/// Moves sixteen bytes on by the distance that `powers` says, modulo the polynomial of CRC-32.
__attribute__((target("pclmul"))) static inline CBlocks_lanes CBlocks_move(CBlocks_lanes bytes, CBlocks_lanes powers) {
    return __builtin_ia32_pclmulqdq128(bytes, powers, 0x00) ^ __builtin_ia32_pclmulqdq128(bytes, powers, 0x11);
}
#endif

/// Folds many bytes into sixteen whose CRC-32, begun with zero, is that of them all, begun with `state`.
///
/// A message is a polynomial over two elements, and what is divisible by that of CRC-32 may be added to it. So the first bytes
/// are multiplied by what x to the power of their distance leaves, and added to bytes further on. The constants are those
/// remainders: x^(512+32), x^(512-32), x^(128+32) and x^(128-32), the bits in the order of the checksum's, one place up.
///
/// - `count`: a multiple of 16, 64 at least.
/// - `folded`: room for 16 bytes.
#if defined(__x86_64__)
__attribute__((target("pclmul")))
#endif
static inline void CBlocks_fold(unsigned state, const void *bytes, long count, void *folded) {
#if defined(__x86_64__)
    const CBlocks_lanes far = {0x154442BD4, 0x1C6E41596}, near = {0x1751997D0, 0x0CCAA009E};
    const CBlocks_lanes *next = (const CBlocks_lanes *)bytes, *end = next + count / 16;
    CBlocks_lanes a = next[0] ^ (CBlocks_lanes){state, 0}, b = next[1], c = next[2], d = next[3];
    for (next += 4; end - next >= 4; next += 4) {
        a = CBlocks_move(a, far) ^ next[0];
        b = CBlocks_move(b, far) ^ next[1];
        c = CBlocks_move(c, far) ^ next[2];
        d = CBlocks_move(d, far) ^ next[3];
    }
    b ^= CBlocks_move(a, near);
    c ^= CBlocks_move(b, near);
    d ^= CBlocks_move(c, near);
    for (; next < end; next++) d = CBlocks_move(d, near) ^ *next;
    *(CBlocks_lanes *)folded = d;
#else
    __builtin_trap();
#endif
}
