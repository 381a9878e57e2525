#if PostgreSQL
    /// What an image says, as it is written.
    ///
    /// First what it is of, the migrations that made its tables, and what the row of the store has. Then each table: its
    /// name, its columns, and its rows, each behind a one; a zero ends them. No name ends the tables.
    struct ImageText {
        /// What every image begins with.
        static let mark = "an image of lenticular's on postgresql, 1"

        private(set) var bytes: [UInt8] = []

        mutating func append(_ count: Int) { bytes += ImageBlock.number(UInt32(count)) }

        mutating func append(_ value: some Collection<UInt8>) {
            append(value.count)
            bytes += value
        }

        mutating func append(_ text: String) { append(Array(text.utf8)) }

        mutating func append(_ table: TableLayout) {
            append(table.name)
            append(table.columns.count)
            for column in table.columns { append(column) }
        }

        mutating func append(rowMark mark: UInt8) { bytes.append(mark) }

        /// The values as COPY has them: the length of each, all ones for null, and its bytes.
        mutating func append(value: UnsafeRawBufferPointer?) {
            guard let value else {
                bytes += [0xff, 0xff, 0xff, 0xff]
                return
            }
            append(value)
        }

        /// Takes away all that fills blocks, or all there is.
        mutating func takeBlocks(all isAll: Bool) -> [UInt8] {
            var blocks: [UInt8] = []
            var start = 0
            while bytes.count - start >= ImageBlock.bytesMax || (isAll && start < bytes.count) {
                let end = min(start + ImageBlock.bytesMax, bytes.count)
                blocks += ImageBlock.encode(bytes[start..<end])
                start = end
            }
            bytes.removeFirst(start)
            return blocks
        }
    }

    /// What an image says, as it is read; nil wherever more bytes must come first.
    struct ImageCursor {
        private let bytes: [UInt8]
        private(set) var index: Int

        init(_ bytes: [UInt8], from index: Int) {
            self.bytes = bytes
            self.index = index
        }

        mutating func byte() -> UInt8? {
            guard index < bytes.count else { return nil }
            defer { index += 1 }
            return bytes[index]
        }

        mutating func count() -> Int? {
            guard bytes.count - index >= 4 else { return nil }
            defer { index += 4 }
            return Int(bytes[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }

        mutating func value() -> [UInt8]? {
            guard let count = count(), bytes.count - index >= count else { return nil }
            defer { index += count }
            return Array(bytes[index..<(index + count)])
        }

        mutating func text() -> String? { value().map { String(decoding: $0, as: UTF8.self) } }

        mutating func texts() -> [String]? {
            guard let count = count() else { return nil }
            var texts: [String] = []
            for _ in 0..<count {
                guard let text = text() else { return nil }
                texts.append(text)
            }
            return texts
        }

        /// The values of a row, as COPY has them.
        mutating func row(of count: Int) -> ArraySlice<UInt8>? {
            let start = index
            for _ in 0..<count {
                guard let length = self.count() else { return nil }
                guard length != 0xffff_ffff else { continue }
                guard bytes.count - index >= length else { return nil }
                index += length
            }
            return bytes[start..<index]
        }
    }
#endif
