import CBlocks

/// Memory that was freed, and that the process still holds.
///
/// Records are made on one thread and freed on another, which leaves holes in the heap of each: in a long run far more than
/// what is in use.
package enum FreeMemory {
    /// Gives it back to the system.
    static func giveBack() { CBlocks_trim() }

    /// Threads that begin from now on share one heap, so that one fills the holes of another. For a process that does nothing else.
    package static func share() { CBlocks_share() }

    /// Keeps what is large out of the heap from now on: small things that are made meanwhile stand where it was, and the next
    /// large one does not fit there. For a process that does nothing else.
    package static func keepApart() { CBlocks_apart() }

    /// Gives back the code that has run so far; what goes on is read again from the program's file, which takes less than a
    /// millisecond in all. For a process that does nothing else.
    package static func giveBackCode() { CBlocks_forget() }
}
