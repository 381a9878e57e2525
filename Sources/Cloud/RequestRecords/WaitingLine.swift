import CloudModel

/// One line of those that wait, as `LineDraft` has left it.
struct WaitingLine {
    // Where its parts are; the head is as `LineHead` has it.
    static let textsEndAt = 4
    static let numbersAt = 6
    static let timeAt = 8
    static let idAt = 16
    static let placeAt = 32
    static let zoneCountAt = 33
    static let failureCountAt = 34
    static let hashAt = 36
    static let partsAt = 44
    static let headAt = 46
    static let textsAt = 48

    let start: UnsafeRawPointer

    var byteCount: Int { Int(start.loadUnaligned(as: UInt32.self)) }
    var time: Milliseconds { start.loadUnaligned(fromByteOffset: Self.timeAt, as: Int64.self) }
    var zoneCount: Int { Int(start.load(fromByteOffset: Self.zoneCountAt, as: UInt8.self)) }
    var failureCount: Int { Int(start.load(fromByteOffset: Self.failureCountAt, as: UInt8.self)) }

    var textParts: LineParts {
        LineParts(
            rawValue: start.loadUnaligned(fromByteOffset: Self.headAt, as: UInt16.self))
    }

    /// All that it has.
    var parts: LineParts {
        LineParts(rawValue: start.loadUnaligned(fromByteOffset: Self.partsAt, as: UInt16.self))
            .union(textParts.subtracting(.zoneOwner))
    }

    /// The id, and the byte behind it that says where the request went.
    var idAndPlace: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + Self.idAt, count: LineCodec.idBytes + 1)
    }

    private var textsEnd: Int {
        Int(start.loadUnaligned(fromByteOffset: Self.textsEndAt, as: UInt16.self))
    }

    private var numberBytes: Int {
        Int(start.loadUnaligned(fromByteOffset: Self.numbersAt, as: UInt16.self))
    }

    /// Its texts with what says which they are.
    var head: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + Self.headAt, count: textsEnd - Self.headAt)
    }

    var headHash: UInt64 { start.loadUnaligned(fromByteOffset: Self.hashAt, as: UInt64.self) }

    /// From the status to the notices, as a segment has them.
    var numbers: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + textsEnd, count: numberBytes)
    }

    /// What follows: zones, then failures.
    var rest: UnsafeRawPointer { start + textsEnd + numberBytes }
}
