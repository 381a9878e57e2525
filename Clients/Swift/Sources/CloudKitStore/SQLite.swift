// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    // What this library uses of SQLite's C interface, under the names that it has there.

    typealias sqlite3_destructor_type = @convention(c) (UnsafeMutableRawPointer?) -> Void

    let SQLITE_OK: Int32 = 0
    let SQLITE_ROW: Int32 = 100
    let SQLITE_DONE: Int32 = 101
    let SQLITE_OPEN_READWRITE: Int32 = 0x2
    let SQLITE_OPEN_CREATE: Int32 = 0x4
    let SQLITE_INTEGER: Int32 = 1
    let SQLITE_TEXT: Int32 = 3
    let SQLITE_BLOB: Int32 = 4

    @_extern(c)
    func sqlite3_open_v2(
        _ file: UnsafePointer<CChar>, _ opened: UnsafeMutablePointer<OpaquePointer?>,
        _ flags: Int32, _ system: UnsafePointer<CChar>?
    ) -> Int32

    @discardableResult @_extern(c)
    func sqlite3_close_v2(_ connection: OpaquePointer?) -> Int32

    @discardableResult @_extern(c)
    func sqlite3_busy_timeout(_ connection: OpaquePointer, _ milliseconds: Int32) -> Int32

    @_extern(c)
    func sqlite3_errmsg(_ connection: OpaquePointer) -> UnsafePointer<CChar>

    @_extern(c)
    func sqlite3_prepare_v2(
        _ connection: OpaquePointer, _ text: UnsafePointer<CChar>, _ bytes: Int32,
        _ prepared: UnsafeMutablePointer<OpaquePointer?>,
        _ rest: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32

    @discardableResult @_extern(c)
    func sqlite3_finalize(_ statement: OpaquePointer) -> Int32

    @_extern(c)
    func sqlite3_step(_ statement: OpaquePointer) -> Int32

    @_extern(c)
    func sqlite3_bind_null(_ statement: OpaquePointer, _ index: Int32) -> Int32

    @_extern(c)
    func sqlite3_bind_int64(_ statement: OpaquePointer, _ index: Int32, _ number: Int64) -> Int32

    @_extern(c)
    func sqlite3_bind_text(
        _ statement: OpaquePointer, _ index: Int32, _ text: UnsafePointer<CChar>, _ bytes: Int32,
        _ destructor: sqlite3_destructor_type?
    ) -> Int32

    @_extern(c)
    func sqlite3_bind_zeroblob(_ statement: OpaquePointer, _ index: Int32, _ bytes: Int32) -> Int32

    @_extern(c)
    func sqlite3_bind_blob(
        _ statement: OpaquePointer, _ index: Int32, _ bytes: UnsafeRawPointer, _ count: Int32,
        _ destructor: sqlite3_destructor_type?
    ) -> Int32

    @_extern(c)
    func sqlite3_column_count(_ statement: OpaquePointer) -> Int32

    @_extern(c)
    func sqlite3_column_type(_ statement: OpaquePointer, _ index: Int32) -> Int32

    @_extern(c)
    func sqlite3_column_int64(_ statement: OpaquePointer, _ index: Int32) -> Int64

    @_extern(c)
    func sqlite3_column_text(
        _ statement: OpaquePointer, _ index: Int32
    ) -> UnsafePointer<UInt8>?

    @_extern(c)
    func sqlite3_column_bytes(_ statement: OpaquePointer, _ index: Int32) -> Int32

    @_extern(c)
    func sqlite3_column_blob(_ statement: OpaquePointer, _ index: Int32) -> UnsafeRawPointer?
#endif
