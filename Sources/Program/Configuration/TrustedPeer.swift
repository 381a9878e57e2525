/// A proxy that is trusted to name its clients: addresses, or who reaches a Unix socket.
package struct TrustedPeer: Sendable, Equatable, LosslessStringConvertible {
    /// How the wire names peers that came by a Unix socket.
    private static let unix = "unix"

    /// Nil for Unix sockets.
    private let range: AddressRange?

    /// Reads `unix`, an address or a range; nil for any other text.
    package init?(_ text: String) {
        guard text != Self.unix else {
            range = nil
            return
        }
        guard let range = AddressRange(text) else { return nil }
        self.range = range
    }

    package var description: String { range?.description ?? Self.unix }

    /// Whether a peer is one of them, by its address in text form or `unix`.
    package func contains(_ address: String) -> Bool {
        range?.contains(address) ?? (address == Self.unix)
    }
}
