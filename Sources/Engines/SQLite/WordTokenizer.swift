import CSQLite

/// Takes words from texts in the same way as full-text indexes with `unicode61 remove_diacritics 2`
/// whose categories include marks.
///
/// A word is letters with their marks, and digits; case and Latin diacritics do not count.
///
/// Confined, as its connection, to one thread at a time.
package final class WordTokenizer {
    private let functions: fts5_tokenizer
    private let instance: OpaquePointer

    /// - Throws: `SQLiteError` when this SQLite has no full-text search, or no memory.
    package init(_ connection: Connection) throws {
        let found = try Self.functions(connection)
        functions = found.functions
        var made: OpaquePointer?
        let options: [StaticString] = [
            "remove_diacritics", "2", "categories", "L* N* Co Mn Mc",
        ]
        var arguments: [UnsafePointer<CChar>?] = options.map {
            UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self)
        }
        let code =
            found.functions.xCreate?(found.context, &arguments, Int32(options.count), &made)
            ?? SQLITE_ERROR
        guard code == SQLITE_OK, let made else { throw connection.lastError() }
        instance = made
    }

    deinit { functions.xDelete?(instance) }

    /// Hands each word of a text, as UTF-8, to a closure, in the order of the text.
    package func forEachWord(
        in text: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void
    ) throws {
        guard let start = text.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
        let code = withoutActuallyEscaping(visit) { visit in
            let visitor = Visitor(visit)
            return withExtendedLifetime(visitor) {
                functions.xTokenize?(
                    instance, Unmanaged.passUnretained(visitor).toOpaque(),
                    FTS5_TOKENIZE_DOCUMENT, start, Int32(clamping: text.count),
                    { context, _, token, count, _, _ in
                        guard let context, let token else { return SQLITE_OK }
                        Unmanaged<Visitor>.fromOpaque(context).takeUnretainedValue().visit(
                            UnsafeRawBufferPointer(start: token, count: Int(count)))
                        return SQLITE_OK
                    }) ?? SQLITE_ERROR
            }
        }
        guard code == SQLITE_OK else {
            throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
        }
    }

    private final class Visitor {
        let visit: (UnsafeRawBufferPointer) -> Void

        init(_ visit: @escaping (UnsafeRawBufferPointer) -> Void) { self.visit = visit }
    }

    private static func functions(
        _ connection: Connection
    ) throws -> (functions: fts5_tokenizer, context: UnsafeMutableRawPointer?) {
        let statement = try connection.prepare("SELECT fts5(?1)")
        defer { statement.reset() }
        var interface: UnsafeMutablePointer<fts5_api>?
        try withUnsafeMutablePointer(to: &interface) { pointer in
            statement.bind(pointer: pointer, ofType: "fts5_api_ptr", at: 1)
            _ = try statement.step()
            statement.reset()
            // The place ends with this closure.
            statement.bindNull(at: 1)
        }
        var found = fts5_tokenizer()
        var context: UnsafeMutableRawPointer?
        guard let interface,
            interface.pointee.xFindTokenizer(interface, "unicode61", &context, &found) == SQLITE_OK
        else { throw SQLiteError(code: SQLITE_ERROR, message: "no full-text search") }
        return (found, context)
    }
}

extension Statement {
    /// Binds an address that SQLite hands on to the function that asks for its type.
    fileprivate func bind(
        pointer: UnsafeMutableRawPointer, ofType type: StaticString, at index: Int32
    ) {
        type.withUTF8Buffer {
            $0.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_pointer(ready, index, pointer, $0.baseAddress, nil)
            }
        }
    }
}
