import CloudDatabase
import CloudModel
import Seeding
import Storage
import Testing

@Suite("Pages of queries")
struct QueryPagingTests {
    private func filled(_ count: Int = 200) throws -> QueryStore {
        let server = try QueryStore()
        try server.save(
            (0..<count).map { ("r\($0)", ["n": .int(Int64($0 % 40)), "s": .text("tea")]) })
        return server
    }

    private func fault(_ body: () throws -> Void) -> Fault? {
        do {
            try body()
            return nil
        } catch { return error as? Fault }
    }

    @Test(
        "A page that would look at more records than the limit is refused, and says what would help"
    )
    func rows() throws {
        let server = try filled()
        server.limits.queryRowsMax = 50
        let nothing = RecordQuery.notes([.field("s", .notEquals, .string("TEA"))])
        let refused = fault { _ = try server.page(nothing) }
        #expect(refused?.code == .badRequest)
        #expect(refused?.reason.contains("limits.queryRowsMax") == true)
        #expect(refused?.reason.contains("add a filter") == true)
        // Pages that fill in time go through all of the records.
        let all = RecordQuery.notes([.field("s", .notEquals, .string("coffee"))])
        #expect(try server.names(all, limit: 20).count == 200)
    }

    @Test(
        "Every page by distance fills within the limit of records, however many are nearer or farther",
        arguments: [true, false])
    func distances(ascending: Bool) throws {
        var random = SeededRandom("pages by distance")
        let locations = (0..<2_400).map { index in
            // Some all over the globe, some in one country, some in one village of it.
            let width = [180, 1, 0.01][index % 3]
            return RecordQuery.Coordinate(
                latitude: width == 180
                    ? .random(in: -90...90, using: &random)
                    : 50 + .random(in: 0...width, using: &random),
                longitude: width == 180
                    ? .random(in: -180...180, using: &random)
                    : 8 + .random(in: 0...width, using: &random))
        }
        let server = try QueryStore()
        try server.save(
            locations.enumerated().map { index, location in
                ("r\(index)", ["p": .location(location.latitude, location.longitude)])
            })
        server.limits.queryRowsMax = 1_000
        for centre in [(50.05, 8.05), (0, 0), (-50, -172)] {
            let centre = RecordQuery.Coordinate(latitude: centre.0, longitude: centre.1)
            let sort = RecordQuery.Sort(
                subject: .field(FieldName("p").required), ascending: ascending, relativeTo: centre)
            let sorted = locations.indices.sorted {
                let (left, right) = (
                    locations[$0].distance(to: centre), locations[$1].distance(to: centre)
                )
                return left == right ? ($0 < $1) == ascending : (left < right) == ascending
            }
            #expect(
                try server.names(.notes(by: [sort]), limit: 50) == sorted.map { "r\($0)" },
                "LENTICULAR_SEED=\(random.seed)")
        }
    }

    @Test("A page that takes longer than the limit is refused, to be tried again")
    func time() throws {
        let server = try filled(10)
        server.limits.queryMillisecondsMax = 0
        let refused = fault { _ = try server.page(.notes()) }
        #expect(refused?.code == .tryAgainLater)
        #expect(refused?.reason.contains("limits.queryMillisecondsMax") == true)
    }

    @Test("A page that ends at the last record has no marker")
    func lastPage() throws {
        let server = try filled(40)
        let first = try server.page(.notes(by: [.field("n")]), limit: 20)
        let marker = try #require(first.marker)
        let second = try server.page(.notes(by: [.field("n")]), limit: 20, marker: marker)
        #expect(second.names.count == 20)
        #expect(second.marker == nil)
    }

    @Test(
        "Records that do not change are neither skipped nor repeated while others do",
        arguments: [
            RecordQuery.notes(), .notes(by: [.field("n")]),
            .notes(by: [.field("n", ascending: false)]),
            .notes(by: [.field("s"), .field("n")]),
            .notes([.field("s", .in, .list([.string("tea")]))]),
            .notes([.field("n", .greaterThan, .int64(-1)), .field("s", .equals, .string("TEA"))]),
        ])
    func changes(_ query: RecordQuery) throws {
        var random = SeededRandom("pages while records change")
        let server = try filled()
        let touched = Set((0..<200).filter { _ in random.happens(40) }.map { "r\($0)" })
        var names: [String] = []
        var marker: String?
        repeat {
            let page = try server.page(query, limit: 17, marker: marker)
            names += page.names
            marker = page.marker
            for name in touched where random.happens(20) {
                if random.happens(50) {
                    try server.delete([name])
                } else {
                    try server.save(
                        name, ["n": .int(.random(in: 0..<40, using: &random)), "s": .text("tea")])
                }
            }
            try server.save("new\(names.count)", ["n": .int(7), "s": .text("tea")])
        } while marker != nil
        let kept = names.filter { !touched.contains($0) && $0.hasPrefix("r") }
        #expect(Set(kept).count == kept.count)
        #expect(kept.count == 200 - touched.count)
    }

    @Test("A marker of another query, or one that was changed, is refused")
    func foreignMarker() throws {
        let server = try filled()
        let marker = try #require(try server.page(.notes(by: [.field("n")]), limit: 5).marker)
        for query in [RecordQuery.notes(), .notes(by: [.field("n", ascending: false)])] {
            #expect(fault { _ = try server.page(query, marker: marker) }?.code == .badRequest)
        }
        var forged = Array(marker.utf8)
        forged[60] = forged[60] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let text = String(decoding: forged, as: UTF8.self)
        #expect(
            fault { _ = try server.page(.notes(by: [.field("n")]), marker: text) }?.code
                == .badRequest)
    }

    @Test("What a caller may not see is not found, nor does it show in a page's length")
    func access() throws {
        let server = try filled(30)
        let nobody = UserRecordName("_" + String(repeating: "b", count: 32)).required
        #expect(try server.names(.notes(), access: .own(nobody)).isEmpty)
        let own = QueryAccess.own(server.user)
        #expect(try server.names(.notes(by: [.field("n")]), limit: 4, access: own).count == 30)
    }

    @Test("An index whose filling was cut short is finished after a restart")
    func resumes() throws {
        let server = try filled()
        let query = RecordQuery.notes([.field("n", .equals, .int64(3))])
        #expect(try server.names(query).count == 5)
        try server.reopen {
            try server.damage(
                """
                UPDATE indexes SET state = 0, filled_through = 37;
                DELETE FROM new_index_values WHERE record > 37;
                INSERT OR IGNORE INTO work (kind, subject, item, name) VALUES (3, 0, 0, '');
                """)
        }
        #expect(try server.names(query).count == 5)
        #expect(try server.problems() == [])
    }

    @Test("An index that is built while records are saved and deleted holds all of them")
    func buildsBesideWrites() throws {
        let server = try filled(2_000)
        let query = RecordQuery.notes([.field("n", .equals, .int64(99))])
        var step = 0
        while try server.prepare(query) != nil {
            try server.save("r\(step % 2_000)", ["n": .int(99)])
            try server.delete(["r\(step * 7 % 2_000)"])
            try server.save("new\(step)", ["n": .int(99)])
            step += 1
        }
        #expect(
            try server.names(query).sorted() == server.everything(query, in: nil).matching.sorted())
        #expect(try server.problems() == [])
    }
}

@Suite("Comparing values")
struct IndexValueTests {
    @Test(
        "Case is folded by Unicode's full mappings, but for the dotless i",
        arguments: [
            ("STRASSE", "straße", true), ("ẞ", "ss", true), ("ΟΔΟΣ", "οδος", true),
            ("ΟΔΟΣ", "οδος".replacing("ς", with: "σ"), true), ("I", "i", true), ("I", "ı", false),
            ("İ", "i", false), ("\u{E9}", "e\u{301}", false), ("É", "\u{E9}", true),
            ("😀", "😀", true),
        ])
    func folding(_ left: String, _ right: String, _ areSame: Bool) {
        #expect((CaseFolding.fold(left) == CaseFolding.fold(right)) == areSame)
    }

    @Test("Whole numbers and doubles compare exactly, at the ends of 64 bits too")
    func numbers() {
        let most = IndexValue.integer(.max)
        #expect(most < IndexValue(0x1p63))
        #expect(IndexValue(-0x1p63) == .integer(.min))
        #expect(IndexValue.integer(1 << 53 + 1) > IndexValue(0x1p53))
        #expect(IndexValue(-0.0) == IndexValue(0.0))
        #expect(IndexValue(0.5) > .integer(0))
        #expect(IndexValue(-0.5) < .integer(0))
        #expect(IndexValue.integer(9) < IndexValue(""))
    }
}
