#include <zlib.h>

// A macro that Swift does not import: raw deflate data or gzip, by the number of window bits.
static inline int patchbay_inflate_begin(z_stream *stream, int windowBits) { return inflateInit2(stream, windowBits); }
