#pragma once

#if defined(__linux__) && __has_include(<malloc.h>)
#include <malloc.h>
#endif

typedef signed char CBlocks_marks __attribute__((ext_vector_type(16)));
typedef _Bool CBlocks_flags __attribute__((ext_vector_type(16)));

/// One bit for each of sixteen bytes, the lowest for the first; each byte is all ones or zero. A processor has one instruction
/// or a few for it, and Swift no word.
static inline unsigned short CBlocks_bits(CBlocks_marks marks) {
    return __builtin_bit_cast(unsigned short, __builtin_convertvector(marks, CBlocks_flags));
}

/// Asks for a line of memory that will be looked at soon.
static inline void CBlocks_fetch(const void *place) { __builtin_prefetch(place); }

/// Gives memory that was freed back to the system, where the C library (glibc) can be asked to.
static inline void CBlocks_trim(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/// Lets all threads share one heap from now on, where the C library (glibc) would give each its own.
static inline void CBlocks_share(void) {
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 1);
#endif
}
