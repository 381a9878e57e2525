#if PostgreSQL
    import CloudModel

    /// Values of indexes as bytes that lie in the order of the values: numbers by their value, whole or not, before all
    /// texts.
    enum OrderedValue {
        private static let number: UInt8 = 1
        private static let text: UInt8 = 2

        /// Before all values, and after them.
        static let lowest: [UInt8] = []
        static let highest: [UInt8] = [3]

        static func bytes(_ value: IndexValue) -> [UInt8] {
            switch value {
            case .text(let text): return [Self.text] + text
            case .real(let real): return bytes(real, beyond: 0)
            case .integer(let whole):
                // The greatest double that is not greater, and what is missing to the number: less than 1,024.
                var below = Double(whole)
                if below >= 0x1p63 || Int64(below) > whole { below = below.nextDown }
                return bytes(below, beyond: UInt16(truncatingIfNeeded: whole - Int64(below)))
            }
        }

        private static func bytes(_ real: Double, beyond: UInt16) -> [UInt8] {
            let bits = (real == 0 ? 0 : real).bitPattern
            let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
            var bytes = [number]
            withUnsafeBytes(of: ordered.bigEndian) { bytes += $0 }
            // What ends earlier lies before.
            if beyond > 0 { withUnsafeBytes(of: beyond.bigEndian) { bytes += $0 } }
            return bytes
        }

        /// Nil for bytes that are of no value.
        static func value(_ bytes: UnsafeRawBufferPointer) -> IndexValue? {
            if bytes.first == text { return .text([UInt8](bytes.dropFirst())) }
            guard bytes.first == number, bytes.count == 9 || bytes.count == 11 else { return nil }
            let ordered = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let real = Double(bitPattern: ordered >> 63 == 1 ? ordered & ~(1 << 63) : ~ordered)
            let beyond = bytes[9...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            guard let whole = Int64(exactly: real) else { return beyond == 0 ? .real(real) : nil }
            return .integer(whole + beyond)
        }
    }
#endif
