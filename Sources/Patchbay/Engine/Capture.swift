import PatchbayJSON
package import PatchbayModel
import Synchronization

extension Engine {
    /// An operation with the time at which the app captured it. A class, because it is passed on often.
    package final class Capture: Sendable {
        package let operation: EngagementOperation
        /// The operation in its stored form. The capturing thread encodes it, because the storing thread is the bottleneck.
        let body: [UInt8]
        package let uptime: Instant
        /// Whether its id was generated for it, so that no other operation can have it.
        package let hasNewID: Bool

        package init(_ operation: consuming EngagementOperation, uptime: Instant, hasNewID: Bool = false) {
            (self.uptime, self.hasNewID) = (uptime, hasNewID)
            body = Self.encode(operation)
            self.operation = operation
        }

        /// Whether the operation has at most 4 MiB and at most 512 nesting levels, so that every reader accepts it.
        var isWithinLimits: Bool {
            // A deeper value needs at least this number of opening and closing brackets.
            guard body.count > 2 * Self.deepest else { return true }
            guard body.count <= Self.largest else { return false }
            var (depth, isText, isEscaped) = (0, false, false)
            for byte in body {
                switch byte {
                case _ where isEscaped: isEscaped = false
                case UInt8(ascii: "\\"): isEscaped = isText
                case UInt8(ascii: "\""): isText.toggle()
                case UInt8(ascii: "["), UInt8(ascii: "{"): if !isText { depth += 1 }
                case UInt8(ascii: "]"), UInt8(ascii: "}"): if !isText { depth -= 1 }
                default: break
                }
                if depth > Self.deepest { return false }
            }
            return true
        }

        private static let (largest, deepest) = (4 << 20, 512)

        /// A writer with reserved capacity, so that the stored bytes need no spare capacity.
        private static let spare = Mutex<JSONWriter?>(nil)

        private static func encode(_ operation: EngagementOperation) -> [UInt8] {
            var writer = spare.withLock { $0.take() } ?? JSONWriter(expecting: 1_024)
            writer.reset()
            operation.write(to: &writer)
            let body = writer.bytes.withUnsafeBufferPointer { Array($0) }
            if writer.bytes.capacity <= 1 << 16 { spare.withLock { $0 = writer } }
            return body
        }
    }
}
