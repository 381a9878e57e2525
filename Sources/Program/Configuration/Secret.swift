/// A text that is never shown: printing, describing or mirroring it gives dots.
package struct Secret: Sendable, Equatable, LosslessStringConvertible {
    /// The text itself, for the one place that needs it.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    package var isEmpty: Bool { revealed.isEmpty }

    /// Dots, as many for every secret; nothing for an empty one.
    package var description: String { isEmpty ? "" : "••••••••" }
}

extension Secret: CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
