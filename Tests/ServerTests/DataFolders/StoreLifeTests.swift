import CloudModel
import Foundation
import SQLite
import Testing

@testable import Server

/// What an earlier or a lost life of a store gave out (rulings.md 27, 28).
@Suite("Lives of a store")
struct StoreLifeTests {
    private let notes: FolderNotes

    init() throws { notes = try FolderNotes() }

    private func isExpired(_ answer: [String: Any]) -> Bool {
        answer["changeTokenExpired"] as? Bool == true
            && (answer["reason"] as? String)?.hasPrefix("change token expired") == true
    }

    /// Tokens and a marker as a client holds them, of every kind.
    private struct Held {
        let zone: String
        let database: String
        let publicZone: String
        let marker: String
    }

    private func hold() throws -> Held {
        Held(
            zone: try #require(notes.page(nil)["syncToken"] as? String),
            database: try #require(
                notes.post("private/changes/database", [:])["syncToken"] as? String),
            publicZone: try #require(notes.page(nil, of: "public")["syncToken"] as? String),
            marker: try #require(notes.found(after: nil)["continuationMarker"] as? String))
    }

    private func answers(_ held: Held) throws -> [[String: Any]] {
        try [
            notes.page(held.zone),
            notes.post("private/changes/database", ["syncToken": held.database]),
            notes.page(held.publicZone, of: "public"), notes.found(after: held.marker),
        ]
    }

    @Test(
        "What came after a folder that was put back has expired, also the third time, and followers catch up"
    )
    func putBack() throws {
        for name in ["a", "b", "c"] {
            try notes.save(name)
            try notes.save(name, in: "public")
        }
        let kept = try hold()
        notes.stop()
        try notes.copy(to: "copy")
        try notes.start()
        let followers = [NoteFollower(notes), NoteFollower(notes, "public")]
        for life in 1...3 {
            for name in ["a", "lost", "lost too"] {
                try notes.save(name)
                try notes.save(name, in: "public")
            }
            for follower in followers { try follower.follow() }
            let later = try hold()
            try notes.putBack("copy")
            try notes.start()
            for isWritten in [false, true] {
                if isWritten {
                    try notes.save("new")
                    try notes.save("new", in: "public")
                }
                for answer in try answers(kept) {
                    #expect(answer["serverErrorCode"] == nil, "life \(life): \(answer)")
                }
                for answer in try answers(later) {
                    #expect(isExpired(answer), "life \(life): \(answer)")
                }
            }
            for follower in followers {
                try follower.follow()
                #expect(follower.expiries == life)
                #expect(Set(follower.held.keys) == ["a", "b", "c", "new"])
            }
            let fresh = NoteFollower(notes)
            try fresh.follow()
            #expect(followers[0].held == fresh.held)
        }
        #expect(notes.reusedTags == [])
        #expect(try #require(notes.running).folder.problems() == [])
    }

    @Test(
        "A lost end of the log is told at the start, by the metric and by the check, and expires tokens"
    )
    func lostTail() throws {
        try notes.save("a")
        let kept = try #require(try notes.page(nil)["syncToken"] as? String)
        try notes.copy(to: "before")
        try notes.save("b")
        let later = try #require(try notes.page(nil)["syncToken"] as? String)
        // As after a power cut with a disk that lied: an earlier log, and the note of what was told.
        try notes.copy(to: "image")
        let log = notes.store + "-wal"
        let earlier = notes.temporary.path("before") + log.dropFirst(notes.data.count)
        let size = try #require(try Data(contentsOf: URL(fileURLWithPath: earlier)).count as Int?)
        try notes.putBack("image")
        let handle = try #require(FileHandle(forWritingAtPath: log))
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        try? FileManager.default.removeItem(atPath: notes.store + "-shm")

        let folder = try notes.start().folder
        #expect(try folder.problems().contains { $0.contains("behind what was acknowledged") })
        #expect(isExpired(try notes.page(later)))
        #expect(folder.stores.reports.behindCount == 1)
        #expect(try notes.page(kept)["serverErrorCode"] == nil)
        try notes.save("c")
        #expect(isExpired(try notes.page(later)))
        #expect(try folder.problems().contains { $0.contains("lost what was acknowledged") })
        let again = try notes.start()
        #expect(try notes.page(kept)["serverErrorCode"] == nil)
        #expect(again.folder.stores.reports.behindCount == 0)
        again.time.now.withLock { $0 += 31 * 86_400_000 }
        #expect(try again.folder.problems() == [])
    }

    @Test(
        "A follower of fifty starts never fetches anew, whether each wrote, only read, or was killed"
    )
    func restarts() throws {
        let followers = [NoteFollower(notes), NoteFollower(notes, "public")]
        var marker: String?
        try notes.save("first")
        try notes.save("second")
        try notes.save("third", in: "public")
        for life in 1...50 {
            if life % 3 == 0 {
                try notes.save("r\(life % 7)")
                try notes.save("p", in: "public")
            }
            for follower in followers { try follower.follow() }
            let before = followers.map(\.token)
            let answer = try notes.found(after: marker)
            #expect(answer["serverErrorCode"] == nil, "\(answer)")
            marker = answer["continuationMarker"] as? String
            if life % 5 == 0 {
                // What a kill would leave.
                try notes.copy(to: "image")
                try notes.putBack("image")
            }
            try notes.start()
            for (follower, token) in zip(followers, before) {
                try follower.follow()
                #expect(follower.token == token, "nothing has changed in life \(life)")
            }
        }
        #expect(followers.map(\.expiries) == [0, 0])
        let fresh = NoteFollower(notes)
        try fresh.follow()
        #expect(followers[0].held == fresh.held)
        #expect(notes.reusedTags == [])
        #expect(try #require(notes.running).folder.problems() == [])
    }

    @Test("The tokens of each moment go on in the folder as it lay at any later moment")
    func images() throws {
        var tokens: [String] = []
        for number in 1...12 {
            try notes.save("r\(number % 5)")
            tokens.append(try #require(try notes.page(nil)["syncToken"] as? String))
            try notes.copy(to: "image \(number)")
        }
        for number in 1...12 {
            try notes.putBack("image \(number)")
            try notes.start()
            for (index, token) in tokens.enumerated() {
                #expect(
                    isExpired(try notes.page(token)) == (index >= number),
                    "token \(index + 1) in image \(number)")
            }
        }
    }

    @Test("So many earlier lives are known, the oldest are forgotten")
    func bounded() throws {
        try notes.save("a")
        let token = try #require(try notes.page(nil)["syncToken"] as? String)
        notes.stop()
        let connection = try Connection(path: notes.store, mode: .readWrite)
        try connection.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10020)
            INSERT INTO incarnations (number, last_position) SELECT -i, -i FROM n
            """)
        try notes.start()
        try notes.save("b")
        let rows = try connection.prepare("SELECT count(*), min(last_position) FROM incarnations")
        #expect(try rows.step())
        #expect(rows.int64(0) == 10_000)
        #expect(rows.int64(1) > -10_000)
        rows.reset()
        #expect(try notes.page(token)["serverErrorCode"] == nil)
    }

    @Test("What a start writes to a store that nobody writes to is nothing")
    func readers() throws {
        try notes.save("a")
        notes.stop()
        let before = try Data(contentsOf: URL(fileURLWithPath: notes.store))
        try notes.start()
        _ = try notes.page(nil)
        notes.stop()
        #expect(try Data(contentsOf: URL(fileURLWithPath: notes.store)) == before)
    }
}
