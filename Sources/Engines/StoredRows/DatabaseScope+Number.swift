import CloudModel

extension DatabaseScope {
    /// How tables number the databases.
    package var stored: Int64 {
        switch self {
        case .public: 0
        case .private: 1
        case .shared: 2
        }
    }

    /// As tables number it; nil for a number of none.
    package init?(stored: Int64) {
        guard let scope = Self.allCases.first(where: { $0.stored == stored }) else { return nil }
        self = scope
    }
}
