import Cryptography
import Platform

/// The parameters of a request target, found once for everybody who reads some of them.
///
/// Names are compared with their percent-encoding undone. Values are as received.
package struct QueryString: Sendable {
    /// Where a parameter lies in the target.
    private struct Parameter: Sendable {
        let start: Int
        let nameEnd: Int
        let end: Int

        var valueStart: Int { min(nameEnd + 1, end) }
    }

    /// The whole target, exactly as received.
    package let target: [UInt8]
    /// The part of the target before the question mark.
    package var path: ArraySlice<UInt8> { target[..<pathEnd] }
    private let pathEnd: Int
    private let parameters: [Parameter]
    /// Whether a percent sign is in the name of one of them.
    private let hasEscapedNames: Bool

    /// Finds the parameters after the first question mark, which are between ampersands.
    package init(target: [UInt8]) {
        self.target = target
        let pathEnd = target.withUnsafeBytes { $0.index(of: UInt8(ascii: "?"), from: 0) }
        self.pathEnd = pathEnd ?? target.count
        let parameters = target.withUnsafeBytes { target in
            pathEnd.map { Self.parameters(in: target, from: $0 + 1) } ?? []
        }
        self.parameters = parameters
        hasEscapedNames = target.withUnsafeBytes { target in
            guard let pathEnd, target.index(of: UInt8(ascii: "%"), from: pathEnd) != nil else {
                return false
            }
            return parameters.contains {
                target[$0.start..<$0.nameEnd].contains(UInt8(ascii: "%"))
            }
        }
    }

    private static func parameters(
        in target: UnsafeRawBufferPointer, from first: Int
    ) -> [Parameter] {
        var found: [Parameter] = []
        found.reserveCapacity(4)
        var start = first
        while start < target.count {
            let end = target.index(of: UInt8(ascii: "&"), from: start) ?? target.count
            let equals = target.index(of: UInt8(ascii: "="), from: start) ?? end
            found.append(Parameter(start: start, nameEnd: min(equals, end), end: end))
            start = end + 1
        }
        return found
    }

    /// The first value under a name, as received; nil when there is none.
    package func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        let found = target.withUnsafeBytes { target in
            parameters.first { self.name(of: $0, in: target, is: name) }
        }
        return found.map { target[$0.valueStart..<$0.end] }
    }

    /// Runs the body on the first value under a name, as received; not where there is none.
    package func withValue(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> Void) {
        target.withUnsafeBytes { target in
            for parameter in parameters where self.name(of: parameter, in: target, is: name) {
                return body(
                    UnsafeRawBufferPointer(
                        rebasing: target[parameter.valueStart..<parameter.end]))
            }
        }
    }

    /// Calls a closure for each parameter whose name is one of these, in the order of the target.
    ///
    /// - Parameter body: gets the name's place in the list, and the value as received.
    func forEach(
        named names: [StaticString], _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) {
        target.withUnsafeBytes { target in
            for parameter in parameters {
                for (index, name) in names.enumerated()
                where self.name(of: parameter, in: target, is: name) {
                    body(
                        index,
                        UnsafeRawBufferPointer(
                            rebasing: target[parameter.valueStart..<parameter.end]))
                }
            }
        }
    }

    private func name(
        of parameter: Parameter, in target: UnsafeRawBufferPointer, is known: StaticString
    ) -> Bool {
        let count = parameter.nameEnd - parameter.start
        // Longer than the name itself it can only be with some of it encoded.
        let isEscaped = hasEscapedNames && count > known.utf8CodeUnitCount
        guard isEscaped || count == known.utf8CodeUnitCount else { return false }
        let name = UnsafeRawBufferPointer(rebasing: target[parameter.start..<parameter.nameEnd])
        guard isEscaped else { return Self.isSame(name, known) }
        return name.percentDecoded.withUnsafeBytes { Self.isSame($0, known) }
    }

    private static func isSame(_ name: UnsafeRawBufferPointer, _ known: StaticString) -> Bool {
        guard name.count == known.utf8CodeUnitCount, let start = name.baseAddress else {
            return false
        }
        return memcmp(start, known.utf8Start, name.count) == 0
    }
}

extension UnsafeRawBufferPointer {
    /// Where a byte is next; nil when it is not there any more.
    func index(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress, start < count,
            let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The bytes with percent-encoding undone; what is no escape stands for itself.
    var percentDecoded: [UInt8] {
        guard index(of: UInt8(ascii: "%"), from: 0) != nil else { return Array(self) }
        return PercentEncoding.decode(self, isLenient: true) ?? Array(self)
    }
}
