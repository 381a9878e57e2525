import Foundation
import Testing

/// Every comparator with every type of field, against `PlainQuery` (rulings.md 21 and 22).
@Suite("Comparators and types")
struct ComparatorTests {
    private let server: WireServer
    private let ida: WireClient

    /// One type of field: the values that records have in it, and one of another type.
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: String
        let values: [PlainValue]
        let wrong: PlainValue

        var isList: Bool { type.hasSuffix("_LIST") && !isEncrypted }
        var isEncrypted: Bool { if case .encrypted = values[0] { true } else { false } }
        var element: String { isList ? String(type.dropLast(5)) : type }
        var field: String { (isEncrypted ? "secret_" : "f_") + type }
        var testDescription: String { (isEncrypted ? "ENCRYPTED_" : "") + type }

        /// The kind of lists of these values: one, two, none, and one twice.
        var list: Kind {
            Kind(
                type: type + "_LIST",
                values: [
                    .list([values[0]]), .list([values[0], values[1]]), .list([]),
                    .list([values[1], values[1]]),
                ], wrong: .list([wrong]))
        }

        var encrypted: Kind {
            Kind(type: type, values: values.map { .encrypted($0) }, wrong: wrong)
        }
    }

    static let scalars: [Kind] = [
        Kind(
            type: "STRING", values: [.string("Tea time"), .string("Milk, tea time or not")],
            wrong: .int(1)),
        Kind(type: "INT64", values: [.int(-5), .int(9_007_199_254_740_993)], wrong: .string("5")),
        Kind(type: "DOUBLE", values: [.double(-0.5), .double(2.5)], wrong: .string("2.5")),
        Kind(
            type: "TIMESTAMP", values: [.time(-1), .time(1_700_000_000_123)], wrong: .double(0.5)),
        Kind(
            type: "REFERENCE",
            values: [.reference("b0", zone: nil), .reference("b1", zone: "Wall")], wrong: .int(7)),
        Kind(
            type: "LOCATION",
            values: [
                .location(latitude: 48.1, longitude: 11.5),
                .location(latitude: -33.9, longitude: 151.2),
            ], wrong: .string("here")),
        Kind(type: "BYTES", values: [.bytes("AAEC"), .bytes("/w==")], wrong: .int(0)),
    ]
    static let kinds =
        scalars + scalars.map(\.list)
        + scalars.filter { $0.type != "REFERENCE" }.map(\.encrypted)

    static let comparators = [
        "EQUALS", "NOT_EQUALS", "LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN",
        "GREATER_THAN_OR_EQUALS", "NEAR", "CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS", "IN",
        "NOT_IN",
        "BEGINS_WITH", "NOT_BEGINS_WITH", "LIST_CONTAINS", "NOT_LIST_CONTAINS", "LIST_CONTAINS_ANY",
        "NOT_LIST_CONTAINS_ANY", "LIST_CONTAINS_ALL", "NOT_LIST_CONTAINS_ALL",
        "LIST_MEMBER_BEGINS_WITH", "NOT_LIST_MEMBER_BEGINS_WITH",
    ]

    /// What each comparator is for, written down again.
    private static func applies(_ comparator: String, to kind: Kind) -> Bool {
        let ordered = ["STRING", "INT64", "DOUBLE", "TIMESTAMP"]
        switch comparator {
        case "EQUALS", "NOT_EQUALS", "IN", "NOT_IN":
            return !kind.isList && (ordered + ["REFERENCE", "BYTES"]).contains(kind.type)
        case "LESS_THAN", "LESS_THAN_OR_EQUALS", "GREATER_THAN", "GREATER_THAN_OR_EQUALS":
            return ordered.contains(kind.type)
        case "NEAR": return kind.type == "LOCATION"
        case "CONTAINS_ALL_TOKENS", "CONTAINS_ANY_TOKENS": return kind.element == "STRING"
        case "BEGINS_WITH", "NOT_BEGINS_WITH": return kind.type == "STRING"
        case "LIST_MEMBER_BEGINS_WITH", "NOT_LIST_MEMBER_BEGINS_WITH":
            return kind.type == "STRING_LIST"
        default: return kind.isList && (ordered + ["REFERENCE", "BYTES"]).contains(kind.element)
        }
    }

    private static func takesList(_ comparator: String) -> Bool {
        comparator == "IN" || comparator == "NOT_IN" || comparator.hasSuffix("_ANY")
            || comparator.hasSuffix("_ALL")
    }

    /// The records of a kind: each of its values, and one without the field.
    private static func records(of kind: Kind) -> [PlainRecord] {
        var records = kind.values.enumerated().map { index, value in
            PlainRecord(name: "r\(index)", fields: [kind.field: value], number: index)
        }
        records.append(PlainRecord(name: "without", fields: [:], number: records.count))
        return records
    }

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf", "Wall")
    }

    private func save(_ records: [PlainRecord], of kind: Kind) throws {
        let saved = try ida.modify(
            records.map { record in
                let fields = record.fields.map { "\(quoted($0)):\($1.field(kind.type))" }
                return operation(
                    "create", record.name, fields: "{\(fields.joined(separator: ","))}")
            })
        guard saved.status == 200, saved.records.allSatisfy({ $0.code == nil }) else {
            throw WireFailure(saved.text)
        }
    }

    @Test(
        "Each comparator with each type finds what it should, or says that it is not for it",
        arguments: kinds)
    func table(kind: Kind) throws {
        let records = Self.records(of: kind)
        try save(records, of: kind)
        for comparator in Self.comparators {
            guard !kind.isEncrypted, Self.applies(comparator, to: kind) else {
                try expectRefused(comparator, kind)
                continue
            }
            var outcomes: Set<Int> = []
            for value in Self.operands(of: comparator, kind) {
                let filter = PlainFilter(
                    field: kind.field, comparator: comparator, value: value,
                    distance: comparator == "NEAR" ? 1_000 : nil)
                let expected = PlainQuery(filters: [filter]).answer(records).map(\.name)
                let type = Self.takesList(comparator) ? kind.element + "_LIST" : kind.element
                let json = filter.json(type: type)
                let got = try ida.names(filters: [json])
                #expect(got.sorted() == expected.sorted(), "\(json)")
                outcomes.insert(expected.count)
                #expect(!expected.contains("without"))
            }
            // Something is found and something is not, else the table would show nothing.
            #expect(outcomes.contains { $0 > 0 }, "\(comparator) \(kind.type)")
            #expect(outcomes.contains { $0 < kind.values.count }, "\(comparator) \(kind.type)")
            try expectWrongType(comparator, kind)
        }
    }

    /// What a comparator is tried with: values that are there, one that is not, lists of them, none.
    private static func operands(of comparator: String, _ kind: Kind) -> [PlainValue] {
        let scalar = scalars.first { $0.type == kind.element }
        guard let scalar else { return [] }
        var values = scalar.values
        switch scalar.type {
        case "STRING":
            values += [
                .string("TEA TIME"), .string("Tea"), .string("tea"), .string("milk"),
                .string("none of it"), .string(""),
            ]
        case "INT64": values += [.int(9_007_199_254_740_992), .int(0), .int(.max), .int(.min)]
        case "DOUBLE": values += [.double(0), .double(-0.50001), .double(1e300)]
        case "TIMESTAMP": values += [.time(0), .time(1_700_000_000_122)]
        case "REFERENCE":
            values += [
                .reference("b0", zone: "Shelf"), .reference("b1", zone: nil),
                .reference("B0", zone: nil),
            ]
        // The same base64 in another case is other bytes.
        case "BYTES": values += [.bytes("aaec"), .bytes(""), .bytes("AAECAA==")]
        default: values += [.location(latitude: 0, longitude: 0)]
        }
        guard takesList(comparator) else { return values }
        return values.map { .list([$0]) } + [.list(scalar.values), .list([]), .list(values)]
    }

    private func expectRefused(_ comparator: String, _ kind: Kind) throws {
        let value = kind.isList ? kind.values[0].members[0] : kind.values[0]
        let operand: PlainValue = Self.takesList(comparator) ? .list([value]) : value
        let filter = PlainFilter(
            field: kind.field, comparator: comparator, value: operand, distance: 1)
        let type = kind.element + (Self.takesList(comparator) ? "_LIST" : "")
        let answer = try ida.query(filters: [filter.json(type: type)])
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(comparator) \(kind.type)")
        let reason =
            kind.isEncrypted
            ? "ENCRYPTED_\(kind.type) value cannot be queried with filter \(comparator)"
            : "is \(kind.type), which cannot be queried with filter \(comparator)"
        #expect(answer.reason.contains(reason), "\(answer.reason)")
    }

    private func expectWrongType(_ comparator: String, _ kind: Kind) throws {
        let wrong = kind.isList ? kind.wrong.members[0] : kind.wrong
        for (operand, type) in [
            (Self.takesList(comparator) ? PlainValue.list([wrong]) : wrong, nil as String?),
            // A value where a list belongs, and a list where a value does.
            Self.takesList(comparator)
                ? (wrong, nil) : (.list([]), kind.element + "_LIST"),
        ] {
            let filter = PlainFilter(
                field: kind.field, comparator: comparator, value: operand, distance: 1)
            let answer = try ida.query(filters: [filter.json(type: type)])
            #expect(answer.status == 400, "\(comparator) \(kind.type): \(answer.text)")
            #expect(
                answer.reason.contains("expected"), "\(comparator) \(kind.type): \(answer.reason)")
        }
    }
}
