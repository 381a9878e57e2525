import CloudModel
import Cryptography

/// The names that the server makes.
enum RecordNames {
    /// A lower-case version 4 UUID (RFC 9562 §5.4).
    static func random(_ source: RandomSource) -> RecordName {
        var bytes = source.bytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += Hexadecimal.encode([byte])
        }
        guard let name = RecordName(text) else {
            preconditionFailure("a UUID is a legal record name")
        }
        return name
    }
}
