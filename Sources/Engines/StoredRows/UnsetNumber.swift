extension Int64 {
    /// What columns that are never empty have where there is nothing.
    package static let unset: Int64 = 0

    /// Nil for what stands for nothing.
    package var unlessUnset: Int64? { self == .unset ? nil : self }
}
