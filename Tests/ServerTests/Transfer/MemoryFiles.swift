import Synchronization

@testable import Administration

/// The files of exports and imports in memory; after so many calls the process that has them is gone.
final class MemoryFiles: TransferFiles {
    struct Gone: Error {}

    private struct State {
        var files: [String: [UInt8]] = [:]
        var callsLeft = Int.max
        var told: [String] = []
    }

    private let state = Mutex(State())

    init(_ main: [UInt8]? = nil, beside: [String: [UInt8]] = [:]) {
        state.withLock { state in
            state.files = beside
            if let main { state.files[""] = main }
        }
    }

    /// Lets the process end after so many calls from now on.
    func end(after calls: Int) { state.withLock { $0.callsLeft = calls } }

    var main: [UInt8] { self[""] }

    subscript(_ name: String) -> [UInt8] { state.withLock { $0.files[name] ?? [] } }

    /// The assets that lie beside, by their names.
    var assets: [String: [UInt8]] {
        state.withLock { $0.files.filter { !$0.key.isEmpty && !$0.key.contains(".") } }
    }

    var lines: [String] {
        String(decoding: main, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func call<Value>(
        _ file: TransferFile, _ body: (inout [UInt8]?) -> Value
    ) throws -> Value {
        try state.withLock { state in
            guard state.callsLeft > 0 else { throw Gone() }
            state.callsLeft -= 1
            return body(&state.files[Self.name(file)])
        }
    }

    private static func name(_ file: TransferFile) -> String {
        switch file {
        case .main: ""
        case .beside(let name): name
        }
    }

    func size(of file: TransferFile) throws -> Int64? {
        try call(file) { $0.map { Int64($0.count) } }
    }

    func read(_ file: TransferFile, at offset: Int64) throws -> [UInt8] {
        // Pieces as short as this cut lines and cells anywhere.
        try call(file) { Array(($0 ?? []).dropFirst(Int(offset)).prefix(997)) }
    }

    func write(_ file: TransferFile, at offset: Int64, _ bytes: [UInt8]) throws {
        try call(file) { stored in
            var whole = stored ?? []
            let (start, end) = (Int(offset), Int(offset) + bytes.count)
            if whole.count < end { whole += repeatElement(0, count: end - whole.count) }
            whole.replaceSubrange(start..<end, with: bytes)
            stored = whole
        }
    }

    func finish(_ file: TransferFile, size: Int64) throws {
        try call(file) { stored in
            stored = Array((stored ?? []).prefix(Int(size)))
        }
    }

    /// What was told of the way, in its order.
    var told: [String] { state.withLock { $0.told } }

    func tell(_ progress: String) -> Bool {
        state.withLock { $0.told.append(progress) }
        return true
    }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try wait() }
}
