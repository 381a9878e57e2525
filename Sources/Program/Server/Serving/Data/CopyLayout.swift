import CloudModel
import Files
import Storage

/// What the parts of a copy are called that `backup DEST` makes; assets lie beside their store.
struct CopyLayout {
    /// So much of a part is read at once.
    static let pieceBytes = 1 << 20
    private static let containersName = "containers"

    private let words: EngineWords

    init(_ words: EngineWords) { self.words = words }

    /// The name of a part below the copy's folder; a container has one folder, whatever its name's case.
    func name(of part: EnginePart) -> String {
        switch part {
        case .catalog: words.catalog
        case .store(let key): "\(folder(of: key))/\(words.store)"
        }
    }

    private func folder(of key: StoreKey) -> String {
        "\(Self.containersName)/\(key.container.folded)/\(key.environment.rawValue)"
    }

    /// The stores that a copy has.
    func stores(in copy: String) throws -> [StoreKey] {
        let containers = "\(copy)/\(Self.containersName)"
        guard try FileSystem.kind(of: containers) == .folder else { return [] }
        return try FileSystem.names(in: containers).compactMap { ContainerID($0) }.flatMap {
            container in
            try Environment.allCases.map { StoreKey(container, $0) }.filter {
                try FileSystem.kind(of: "\(copy)/\(name(of: .store($0)))") == .file
            }
        }
    }

    /// Hands on the bytes of a part of a copy, in their order.
    func read(
        _ part: EnginePart, in copy: String, _ visit: ([UInt8]) throws -> Void
    ) throws {
        let path = "\(copy)/\(name(of: part))"
        var offset: Int64 = 0
        while true {
            let bytes = try FileSystem.contents(of: path, at: offset, bytesMax: Self.pieceBytes)
            guard !bytes.isEmpty else { return }
            try visit(bytes)
            offset += Int64(bytes.count)
        }
    }
}
