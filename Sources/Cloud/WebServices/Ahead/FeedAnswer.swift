/// A page of a feed as it is sent, and how the feed goes on behind it.
struct FeedAnswer: Sendable {
    /// From which token to which a page has led, with more to come.
    struct Step: Sendable, Equatable {
        let from: String
        let to: String
    }

    let body: [UInt8]
    /// Nil at the end of a feed, at its beginning, and for pages of several zones.
    var step: Step?
    /// Whether it tells of something that went wrong, which may be mended by the time that somebody asks.
    var hasFault = false
    /// Longer requests are not foreseen.
    private static let requestBytesMax = 4_096

    /// What whoever asked for this page will foreseeably ask for next: the same, with this page's token.
    ///
    /// - Parameter request: the body by which they asked for this page.
    /// - Returns: nil where the token is not in the body once, as it is written in answers.
    func nextRequest(after request: [UInt8]) -> [UInt8]? {
        guard let step, request.count <= Self.requestBytesMax else { return nil }
        let from = Array("\"\(step.from)\"".utf8)
        guard let place = request.onlyRange(of: from) else { return nil }
        var next: [UInt8] = []
        next.reserveCapacity(request.count + step.to.utf8.count)
        next += request[..<(place.lowerBound + 1)]
        next += step.to.utf8
        next += request[(place.upperBound - 1)...]
        return next
    }
}

extension [UInt8] {
    /// Where some bytes stand that stand nowhere else; nil where they do not, or more than once.
    fileprivate func onlyRange(of bytes: [UInt8]) -> Range<Int>? {
        guard let first = bytes.first, count >= bytes.count else { return nil }
        var found: Range<Int>?
        for start in 0...(count - bytes.count)
        where self[start] == first && self[start..<(start + bytes.count)].elementsEqual(bytes) {
            guard found == nil else { return nil }
            found = start..<(start + bytes.count)
        }
        return found
    }
}
