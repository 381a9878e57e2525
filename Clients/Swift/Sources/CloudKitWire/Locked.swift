import Foundation

/// A value that one thread at a time gets at.
package final class Locked<Value>: @unchecked Sendable {
    // Unchecked: the value is behind the lock. The standard library's own asks for newer systems.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(
        _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
