#if PostgreSQL
    import Storage

    // Rows that go from engine to engine: this one neither hands them over nor takes them in yet.
    extension PostgreSQLEngine {
        private static let notCopied = CopyRefusal("storage in PostgreSQL cannot be copied yet")

        package func readRows<Value: Sendable>(
            of part: CopiedPart, _ body: (CopiedRows) throws -> Value
        ) throws -> Value { throw Self.notCopied }

        package func takeRows<Value: Sendable>(
            of part: CopiedPart, _ body: (TakenRows) throws -> Value
        ) throws -> Value { throw Self.notCopied }

        package func beginLife(of key: StoreKey) throws { throw Self.notCopied }
    }
#endif
