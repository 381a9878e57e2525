/// One value of a JSON5 text, and where it starts.
struct JSON5Value: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case object([Member])
        case array([JSON5Value])
        case string(String)
        /// A whole number, written without fraction and exponent.
        case integer(Int)
        /// Any other number: with a fraction or an exponent, or beyond 64 bits.
        case number
        case bool(Bool)
        case null
    }

    struct Member: Equatable, Sendable {
        let key: String
        let keyLocation: JSON5Location
        let value: JSON5Value
    }

    let content: Content
    let location: JSON5Location
}

/// A place in a JSON5 text: line and column, counted from 1, columns in Unicode scalars.
struct JSON5Location: Equatable, Sendable {
    var line = 1
    var column = 1
}

/// Where and why a text is not JSON5 as this reader takes it.
struct JSON5Error: Error, Equatable {
    let location: JSON5Location
    /// What was expected, as a phrase without a capital or a full stop.
    let reason: String
}
