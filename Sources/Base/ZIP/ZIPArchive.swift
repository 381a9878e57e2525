import CZlib

/// Why something cannot be put into an archive.
package enum ZIPRefusal: Error, Sendable, Equatable {
    /// A name that is empty, too long, leads out of the folder, or is there already.
    case name(String)
    /// Asked for while another entry is open, or while none is.
    case order
    /// An entry is longer than it was said to be at most.
    case tooLong
    /// zlib has no memory.
    case compression
}

/// An archive in the form of ZIP (APPNOTE 6.3), made piece by piece: each call gives the bytes that
/// follow on what was given before.
///
/// Nothing is kept but a line for each entry, so that an archive may be of any size: beyond 4 GiB and
/// 65,535 entries it has the fields of ZIP64. Names are UTF-8.
package struct ZIPArchive {
    /// Of one name, in bytes.
    package static let nameBytesMax = 1_024

    private struct Entry {
        let name: [UInt8]
        let flags: UInt16
        let method: UInt16
        let time: ZIPTime
        let checksum: UInt32
        let packedBytes: UInt64
        let plainBytes: UInt64
        let offset: UInt64
    }

    private struct Open {
        let name: [UInt8]
        let isLarge: Bool
        let offset: UInt64
        let deflater: RawDeflater
        var checksum: UInt
        var packedBytes: UInt64 = 0
        var plainBytes: UInt64 = 0
    }

    /// Sizes stand behind the bytes, and the name is UTF-8.
    private static let streamedFlags: UInt16 = 0x0808
    private static let wholeFlags: UInt16 = 0x0800
    private static let deflated: UInt16 = 8
    private static let stored: UInt16 = 0
    /// Made on Unix, by the rules of version 4.5, which ZIP64 came with.
    private static let madeBy: UInt16 = 3 << 8 | 45
    /// A file that its owner alone may read and write.
    private static let attributes: UInt32 = 0o100600 << 16
    private static let small = UInt64(UInt32.max)

    private let time: ZIPTime
    private var offset: UInt64
    private var names: Set<[UInt8]> = []
    private var entries: [Entry] = []
    private var open: Open?

    /// - Parameters:
    ///   - seconds: since 1970: when its entries were made.
    ///   - offset: how many bytes stand before the archive in its file.
    package init(seconds: Int64, offset: UInt64 = 0) {
        time = ZIPTime(seconds)
        self.offset = offset
    }

    /// A whole entry: compressed where that makes it shorter.
    ///
    /// - Parameter name: parts between slashes, such as `notes/1.json`.
    package mutating func add(_ name: String, _ bytes: [UInt8]) throws(ZIPRefusal) -> [UInt8] {
        guard open == nil else { throw .order }
        let name = try take(name)
        guard let deflater = RawDeflater(),
            let packed = deflater.deflate(bytes[...], isLast: true)
        else { throw .compression }
        let isShorter = packed.count < bytes.count
        let contents = isShorter ? packed : bytes
        // A whole entry in memory is never as long as what needs ZIP64's sizes.
        guard UInt64(bytes.count) < Self.small else { throw .tooLong }
        let entry = Entry(
            name: name, flags: Self.wholeFlags, method: isShorter ? Self.deflated : Self.stored,
            time: time, checksum: UInt32(truncatingIfNeeded: checksum(of: bytes[...], after: 0)),
            packedBytes: UInt64(contents.count), plainBytes: UInt64(bytes.count), offset: offset)
        var made = ZIPBytes()
        put(header: entry, isLarge: false, in: &made)
        made.bytes += contents
        entries.append(entry)
        offset += UInt64(made.bytes.count)
        return made.bytes
    }

    /// Begins an entry whose bytes come in pieces.
    ///
    /// - Parameter bytesMax: how long it is at most; nil where that is not known.
    package mutating func begin(
        _ name: String, bytesMax: UInt64? = nil
    ) throws(ZIPRefusal) -> [UInt8] {
        guard open == nil else { throw .order }
        guard let deflater = RawDeflater() else { throw .compression }
        // What cannot be compressed becomes a little longer.
        let isLarge = bytesMax.map { $0 >= Self.small / 2 } ?? true
        let begun = Open(
            name: try take(name), isLarge: isLarge, offset: offset, deflater: deflater,
            checksum: crc32(0, nil, 0))
        var made = ZIPBytes()
        put(
            header: Entry(
                name: begun.name, flags: Self.streamedFlags, method: Self.deflated, time: time,
                checksum: 0, packedBytes: 0, plainBytes: 0, offset: offset),
            isLarge: isLarge, in: &made)
        open = begun
        offset += UInt64(made.bytes.count)
        return made.bytes
    }

    /// The next piece of the entry that was begun; gives nothing while zlib collects.
    package mutating func append(_ bytes: [UInt8]) throws(ZIPRefusal) -> [UInt8] {
        guard var entry = open else { throw .order }
        guard let packed = entry.deflater.deflate(bytes[...], isLast: false) else {
            throw .compression
        }
        entry.checksum = checksum(of: bytes[...], after: entry.checksum)
        entry.plainBytes += UInt64(bytes.count)
        entry.packedBytes += UInt64(packed.count)
        guard entry.isLarge || max(entry.plainBytes, entry.packedBytes) < Self.small else {
            throw .tooLong
        }
        open = entry
        offset += UInt64(packed.count)
        return packed
    }

    /// The end of the entry that was begun.
    package mutating func end() throws(ZIPRefusal) -> [UInt8] {
        guard let entry = open else { throw .order }
        guard let packed = entry.deflater.deflate([], isLast: true) else { throw .compression }
        let checksum = UInt32(truncatingIfNeeded: entry.checksum)
        let packedBytes = entry.packedBytes + UInt64(packed.count)
        var made = ZIPBytes(packed)
        made.put(0x0807_4B50 as UInt32)
        made.put(checksum)
        if entry.isLarge {
            made.put(packedBytes)
            made.put(entry.plainBytes)
        } else {
            made.put(UInt32(truncatingIfNeeded: packedBytes))
            made.put(UInt32(truncatingIfNeeded: entry.plainBytes))
        }
        entries.append(
            Entry(
                name: entry.name, flags: Self.streamedFlags, method: Self.deflated, time: time,
                checksum: checksum, packedBytes: packedBytes, plainBytes: entry.plainBytes,
                offset: entry.offset))
        open = nil
        offset += UInt64(made.bytes.count)
        return made.bytes
    }

    /// The directory, with which the archive is whole; nothing can be added after it.
    package mutating func finish() throws(ZIPRefusal) -> [UInt8] {
        guard open == nil else { throw .order }
        var made = ZIPBytes()
        for entry in entries { put(inDirectory: entry, in: &made) }
        let size = UInt64(made.bytes.count)
        let isLarge =
            entries.count >= Int(UInt16.max) || offset >= Self.small || size >= Self.small
        if isLarge { putLargeEnd(directoryBytes: size, in: &made) }
        made.put(0x0605_4B50 as UInt32)
        made.put(0 as UInt32)
        let count = UInt16(clamping: entries.count)
        made.put(count)
        made.put(count)
        made.put(UInt32(clamping: size))
        made.put(UInt32(clamping: offset))
        made.put(0 as UInt16)
        return made.bytes
    }
}

extension ZIPArchive {
    private mutating func take(_ name: String) throws(ZIPRefusal) -> [UInt8] {
        let bytes = Array(name.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isBelow = parts.allSatisfy {
            !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
        }
        guard bytes.count <= Self.nameBytesMax, isBelow,
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }),
            names.insert(bytes).inserted
        else { throw .name(name) }
        return bytes
    }

    private func checksum(of bytes: ArraySlice<UInt8>, after: UInt) -> UInt {
        var sum = after
        for start in stride(from: 0, to: bytes.count, by: 1 << 30) {
            sum = bytes[start..<min(start + (1 << 30), bytes.count)].withUnsafeBufferPointer {
                crc32(sum, $0.baseAddress, UInt32($0.count))
            }
        }
        return sum
    }

    /// §4.3.7, local file header.
    private func put(header entry: Entry, isLarge: Bool, in made: inout ZIPBytes) {
        made.put(0x0403_4B50 as UInt32)
        made.put((isLarge ? 45 : 20) as UInt16)
        made.put(entry.flags)
        made.put(entry.method)
        made.put(entry.time.time)
        made.put(entry.time.date)
        made.put(entry.checksum)
        made.put(isLarge ? UInt32.max : UInt32(truncatingIfNeeded: entry.packedBytes))
        made.put(isLarge ? UInt32.max : UInt32(truncatingIfNeeded: entry.plainBytes))
        made.put(UInt16(entry.name.count))
        made.put((isLarge ? 20 : 0) as UInt16)
        made.bytes += entry.name
        guard isLarge else { return }
        made.put(0x0001 as UInt16)
        made.put(16 as UInt16)
        made.put(0 as UInt64)
        made.put(0 as UInt64)
    }

    /// §4.3.12, central directory; what does not fit its field stands in an extra one (§4.5.3).
    private func put(inDirectory entry: Entry, in made: inout ZIPBytes) {
        let isLarge = max(entry.packedBytes, entry.plainBytes) >= Self.small
        let isFar = entry.offset >= Self.small
        let extra = (isLarge ? 16 : 0) + (isFar ? 8 : 0)
        made.put(0x0201_4B50 as UInt32)
        made.put(Self.madeBy)
        made.put((extra > 0 ? 45 : 20) as UInt16)
        made.put(entry.flags)
        made.put(entry.method)
        made.put(entry.time.time)
        made.put(entry.time.date)
        made.put(entry.checksum)
        made.put(isLarge ? UInt32.max : UInt32(truncatingIfNeeded: entry.packedBytes))
        made.put(isLarge ? UInt32.max : UInt32(truncatingIfNeeded: entry.plainBytes))
        made.put(UInt16(entry.name.count))
        made.put(UInt16(extra > 0 ? extra + 4 : 0))
        made.put(0 as UInt16)
        made.put(0 as UInt16)
        made.put(0 as UInt16)
        made.put(Self.attributes)
        made.put(UInt32(clamping: entry.offset))
        made.bytes += entry.name
        guard extra > 0 else { return }
        made.put(0x0001 as UInt16)
        made.put(UInt16(extra))
        if isLarge {
            made.put(entry.plainBytes)
            made.put(entry.packedBytes)
        }
        if isFar { made.put(entry.offset) }
    }

    /// §4.3.14 and §4.3.15: the end in its large form, and where that is.
    private func putLargeEnd(directoryBytes: UInt64, in made: inout ZIPBytes) {
        made.put(0x0606_4B50 as UInt32)
        made.put(44 as UInt64)
        made.put(Self.madeBy)
        made.put(45 as UInt16)
        made.put(0 as UInt32)
        made.put(0 as UInt32)
        made.put(UInt64(entries.count))
        made.put(UInt64(entries.count))
        made.put(directoryBytes)
        made.put(offset)
        made.put(0x0706_4B50 as UInt32)
        made.put(0 as UInt32)
        made.put(offset + directoryBytes)
        made.put(1 as UInt32)
    }
}
