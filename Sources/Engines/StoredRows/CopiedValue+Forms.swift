import Storage

extension CopiedValue {
    /// Nil for what is no integer.
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// Nil for an integer and for nothing.
    package var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
