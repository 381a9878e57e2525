import Foundation

/// What a child has for one of its three standard streams.
package protocol ChildStream {
    /// -1 for nothing to read, or nowhere to write to.
    func descriptor(isInput: Bool) -> Int32
    /// The child has its own copy now.
    func didStart(isInput: Bool)
}

extension FileHandle: ChildStream {
    package func descriptor(isInput: Bool) -> Int32 {
        self === FileHandle.nullDevice ? -1 : fileDescriptor
    }

    package func didStart(isInput: Bool) {}
}

extension Pipe: ChildStream {
    private func side(isInput: Bool) -> FileHandle {
        isInput ? fileHandleForReading : fileHandleForWriting
    }

    package func descriptor(isInput: Bool) -> Int32 { side(isInput: isInput).fileDescriptor }

    // NB: a handle that both output and errors had is closed twice, which changes nothing.
    package func didStart(isInput: Bool) { try? side(isInput: isInput).close() }

    /// Everything that comes until the child, and whoever has inherited its end, closes it.
    ///
    /// `FileHandle.readDataToEndOfFile` ends this process where a signal interrupts it.
    package func readToEnd() -> Data {
        var all = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(fileHandleForReading.fileDescriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return all }
            all.append(contentsOf: piece[..<count])
        }
    }
}
