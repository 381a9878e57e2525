import Storage
import Testing

@testable import SQLiteStorage

/// What is read ahead, and when: the decision alone.
@Suite("Followed feeds")
struct FollowedFeedsTests {
    private let store = ObjectIdentifier(FollowedFeedsTests.self)
    private let other = ObjectIdentifier(Another.self)
    private enum Another {}

    private func step(
        _ began: Position, _ ended: Position, zone: Int64 = 1, newestFirst: Bool = false
    ) -> FeedStep {
        FeedStep(
            zone: ZoneNumber(zone), newestFirst: newestFirst, began: began, ended: ended)
    }

    private func outcome(
        _ middle: Position, _ end: Position, isCold: Bool = true, isLast: Bool = false
    ) -> FollowedFeeds.Outcome {
        FollowedFeeds.Outcome(
            middle: middle, end: end, isCold: isCold, isLast: isLast)
    }

    @Test("Half of what may lie ahead is read when a client comes within half of it")
    func halves() throws {
        var feeds = FollowedFeeds(bytesMax: 1_000, feedsMax: 4)
        let warm = feeds.note(step(0, 10), of: store, isCold: false)
        #expect(warm == nil && feeds.isEmpty)
        let begun = feeds.note(step(10, 20), of: store, isCold: true)
        let first = try #require(begun)
        #expect(first.from == 20 && first.bytes == 1_000 && first.bytesToMiddle == 500)
        let whileReading = feeds.note(step(20, 30), of: store, isCold: true)
        #expect(whileReading == nil)
        let afterReading = feeds.note(outcome(70, 120), of: first)
        #expect(afterReading == nil)
        let beforeMiddle = feeds.note(step(30, 69), of: store, isCold: false)
        #expect(beforeMiddle == nil)
        let atMiddle = feeds.note(step(69, 79), of: store, isCold: false)
        let second = try #require(atMiddle)
        #expect(second.from == 120 && second.bytes == 500 && second.bytesToMiddle == 0)
        // Who came further meanwhile is read ahead of at once.
        let further = feeds.note(step(79, 130), of: store, isCold: false)
        #expect(further == nil)
        let atOnce = feeds.note(outcome(120, 170), of: second)
        let third = try #require(atOnce)
        #expect(third.from == 170 && third.bytes == 500)
    }

    @Test("Who has overtaken what was read is read ahead of from where they are")
    func overtaken() throws {
        var feeds = FollowedFeeds(bytesMax: 1_000, feedsMax: 4)
        let begun = feeds.note(step(500, 400, newestFirst: true), of: store, isCold: true)
        let first = try #require(begun)
        let whileReading = feeds.note(step(400, 100, newestFirst: true), of: store, isCold: true)
        #expect(whileReading == nil)
        let next = feeds.note(outcome(350, 300), of: first)
        let second = try #require(next)
        #expect(second.from == 100 && second.bytes == 1_000 && second.newestFirst)
    }

    @Test("What ends, fails or has long been in memory is followed no more")
    func ends() throws {
        for outcome in [nil, outcome(20, 30, isLast: true)] {
            var feeds = FollowedFeeds(bytesMax: 1_000, feedsMax: 4)
            let begun = feeds.note(step(0, 10), of: store, isCold: true)
            let next = feeds.note(outcome, of: try #require(begun))
            #expect(next == nil && feeds.isEmpty)
        }
        var feeds = FollowedFeeds(bytesMax: 1_000, feedsMax: 4)
        var stretch = feeds.note(step(0, 10), of: store, isCold: true)
        var (place, count) = (Position(10), 0)
        while let reading = stretch {
            count += 1
            let read = feeds.note(outcome(place + 5, place + 10, isCold: false), of: reading)
            #expect(read == nil)
            stretch = feeds.note(step(place, place + 10), of: store, isCold: false)
            place += 10
        }
        #expect(count == FollowedFeeds.warmStretchesMax && feeds.isEmpty)
    }

    @Test("One feed too many takes the place of the one unused the longest")
    func crowded() throws {
        var feeds = FollowedFeeds(bytesMax: 1_000, feedsMax: 2)
        let one = feeds.note(step(0, 1, zone: 1), of: store, isCold: true)
        let two = feeds.note(step(0, 1, zone: 2), of: store, isCold: true)
        _ = feeds.note(step(1, 2, zone: 1), of: store, isCold: false)
        let three = feeds.note(step(0, 1, zone: 2), of: other, isCold: true)
        let (first, second, third) = (
            try #require(one), try #require(two), try #require(three)
        )
        #expect(feeds.isWanted(first) && !feeds.isWanted(second) && feeds.isWanted(third))
        let ofNobody = feeds.note(outcome(5, 9), of: second)
        #expect(ofNobody == nil)
        feeds.forget(store)
        #expect(!feeds.follows(store) && feeds.follows(other) && !feeds.isEmpty)
    }
}
