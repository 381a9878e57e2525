import Foundation

// Settings for several requests at once.
extension CKContainer {
    /// Lets requests within a closure have other settings than usual.
    ///
    /// - Parameter body: gets a container whose databases have them.
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) throws -> R
    ) rethrows -> R {
        try body(with(RequestSettings(configuration, group: group?.defaultConfiguration)))
    }

    /// Lets requests within a closure have other settings than usual.
    ///
    /// - Parameter body: gets a container whose databases have them.
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(with(RequestSettings(configuration, group: group?.defaultConfiguration)))
    }
}

extension CKDatabase {
    /// Lets requests within a closure have other settings than usual.
    ///
    /// - Parameter body: gets a database that has them.
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) throws -> R
    ) rethrows -> R {
        try body(with(RequestSettings(configuration, group: group?.defaultConfiguration)))
    }

    /// Lets requests within a closure have other settings than usual.
    ///
    /// - Parameter body: gets a database that has them.
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(with(RequestSettings(configuration, group: group?.defaultConfiguration)))
    }
}
