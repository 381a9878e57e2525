// Only in debug builds, where a test asks which keys of its requests a decoder has looked for.
#if DEBUG
    import Synchronization

    /// Which members of the objects of a text were asked for, while this exists.
    package final class JSONReadings: Sendable {
        /// A member by the way to it: keys, and `[]` for elements of arrays.
        package typealias Path = [String]

        private static let watched = Mutex<[JSONReadings]>([])
        private static let count = Atomic<Int>(0)

        private let text: [UInt8]
        private let found = Mutex<Set<Path>>([])

        /// Watches all documents of the same bytes.
        package init(of text: [UInt8]) {
            self.text = text
            Self.watched.withLock { $0.append(self) }
            Self.count.add(1, ordering: .sequentiallyConsistent)
        }

        /// Ends it.
        ///
        /// - Returns: what was asked for, there or not.
        package func end() -> Set<Path> {
            Self.count.subtract(1, ordering: .sequentiallyConsistent)
            Self.watched.withLock { $0.removeAll { $0 === self } }
            return found.withLock { $0 }
        }

        static func note(_ object: JSONValue, _ key: UnsafeBufferPointer<UInt8>) {
            guard count.load(ordering: .relaxed) > 0,
                let readings = watched.withLock({ $0.first { $0.text == object.document.bytes } })
            else { return }
            let path = path(to: object.index, from: object.document.root)
            let key = String(decoding: key, as: UTF8.self)
            readings.found.withLock { _ = $0.insert(path + [key]) }
        }

        private static func path(to index: Int, from value: JSONValue) -> Path {
            guard value.index != index else { return [] }
            for member in value.members where holds(index, member.value) {
                return [member.key.string ?? ""] + path(to: index, from: member.value)
            }
            for element in value.elements where holds(index, element) {
                return ["[]"] + path(to: index, from: element)
            }
            return []
        }

        private static func holds(_ index: Int, _ value: JSONValue) -> Bool {
            value.index <= index && index < value.document.tape.next(after: value.index)
        }
    }
#endif
