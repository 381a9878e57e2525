/// The `Range` of a request, for contents of a length (RFC 9110 §14).
enum ByteRanges: Equatable {
    /// No range, or one that is not understood: the whole is answered.
    case whole
    case some([Range<Int>])
    case unsatisfiable

    /// A request for more ranges gets the whole: so many ranges cost more than they save.
    static let countMax = 32

    init(_ header: String?, size: Int) {
        guard let header, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        var ranges: [Range<Int>] = []
        var wanted = 0
        for part in header[header.index(after: equals)...].split(
            separator: ",", omittingEmptySubsequences: false)
        {
            let spec = part.filter { $0 != " " && $0 != "\t" }
            // Empty elements of a list are allowed.
            if spec.isEmpty { continue }
            guard let bounds = Self.bounds(spec) else {
                self = .whole
                return
            }
            wanted += 1
            if let range = Self.range(bounds, size: size) { ranges.append(range) }
        }
        guard wanted > 0, wanted <= Self.countMax else {
            self = .whole
            return
        }
        if ranges.isEmpty {
            self = .unsatisfiable
        } else if ranges.reduce(0, { $0 + $1.count }) > size && ranges.count > 1 {
            // Ranges that overlap take more than the whole.
            self = .whole
        } else {
            self = .some(ranges)
        }
    }

    /// First and last byte as written, one of which may be missing; nil for no range.
    private static func bounds(_ text: String) -> (first: Int?, last: Int?)? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = number(parts[0]), let last = number(parts[1]) else {
            return nil
        }
        switch (first, last) {
        case (nil, nil): return nil
        case (let first?, let last?) where last < first: return nil
        default: return (first, last)
        }
    }

    /// Reads digits or nothing; a number that is too large means the same as any number beyond the end.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .some(Int(text) ?? .max)
    }

    private static func range(_ bounds: (first: Int?, last: Int?), size: Int) -> Range<Int>? {
        guard let first = bounds.first else {
            let count = min(bounds.last ?? 0, size)
            return count > 0 ? size - count..<size : nil
        }
        guard first < size else { return nil }
        let last = min(bounds.last ?? size - 1, size - 1)
        return first..<last + 1
    }
}
