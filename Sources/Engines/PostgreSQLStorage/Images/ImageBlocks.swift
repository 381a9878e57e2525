#if PostgreSQL
    import CChecksum
    import Storage

    /// The bytes of an image are blocks: each has its length and checksum before it, and an empty one is the last.
    enum ImageBlock {
        static let bytesMax = 1 << 18
        static let headBytes = 8

        static func encode(_ payload: ArraySlice<UInt8>) -> [UInt8] {
            number(UInt32(payload.count)) + number(checksum(payload)) + payload
        }

        static func checksum(_ payload: ArraySlice<UInt8>) -> UInt32 {
            // Not the sum of nothing: a hole of zeros is no end.
            payload.withUnsafeBytes { checksum_crc32c(0x4c65_6e54, $0.baseAddress, $0.count) }
        }

        static func number(_ number: UInt32) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
    }

    /// Takes the blocks of an image apart; bytes come as they come.
    struct ImageBlockReader {
        private var bytes: [UInt8] = []
        private var isEnded = false

        /// Takes bytes in, and hands on what whole blocks have in them.
        ///
        /// - Throws: `DamagedImage`.
        mutating func take(_ more: [UInt8], _ visit: ([UInt8]) throws -> Void) throws {
            bytes += more
            var start = 0
            while let end = try blockEnd(from: start) {
                guard !isEnded else { throw DamagedImage("something follows its end") }
                let payload = bytes[(start + ImageBlock.headBytes)..<end]
                guard number(at: start + 4) == ImageBlock.checksum(payload) else {
                    throw DamagedImage("a checksum is not that of its block")
                }
                if payload.isEmpty { isEnded = true } else { try visit(Array(payload)) }
                start = end
            }
            bytes.removeFirst(start)
        }

        /// - Throws: `DamagedImage` where the last block has not come.
        func finish() throws {
            guard isEnded, bytes.isEmpty else { throw DamagedImage("it does not come to its end") }
        }

        private func blockEnd(from start: Int) throws -> Int? {
            guard bytes.count - start >= ImageBlock.headBytes else { return nil }
            let count = Int(number(at: start))
            guard count <= ImageBlock.bytesMax else { throw DamagedImage("a block is too long") }
            let end = start + ImageBlock.headBytes + count
            return end <= bytes.count ? end : nil
        }

        private func number(at index: Int) -> UInt32 {
            bytes[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Bytes that no image of this engine has.
    struct DamagedImage: EngineFault {
        let description: String

        init(_ words: String) { description = "damaged: \(words)" }

        var finding: EngineFinding { .damaged }
    }
#endif
