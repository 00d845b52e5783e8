#if canImport(Glibc)
import Glibc
#endif

/// Memory that the system may keep as pages of two MiB where it can: fewer of them have to be looked up, and the disk takes one
/// at once.
enum LargePages {
    static let size = 2 << 20

    /// So many bytes, a multiple of ``size``, at such a multiple; the caller deallocates them.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: size)
        #if canImport(Glibc)
        // Only a wish.
        _ = madvise(memory, count, MADV_HUGEPAGE)
        #endif
        return memory
    }
}
