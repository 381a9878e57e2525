import CloudModel
import JSON
import RecordDecoding

/// Reads a query (web-services.md §5.9).
///
/// A value gets the type that it names, or the type of its JSON. Whether the schema has the fields and allows
/// the comparisons is decided later.
struct QueryDecoder {
    private let limits: ServiceLimits
    private var values: QueryValueDecoder

    init(zones: ZoneReader, limits: ServiceLimits) {
        self.limits = limits
        values = QueryValueDecoder(zones: zones, listValuesMax: limits.listValuesPerQueryMax)
    }

    /// - Throws: `Fault` BAD_REQUEST that names the key and what was expected, or the limit; NOT_FOUND for
    ///   a record type that no schema can have.
    mutating func decode(_ query: RequestObject) throws(Fault) -> RecordQuery {
        let name = try query.requiredString("recordType")
        guard let type = RecordTypeName(name) else { throw .unknownRecordType(name) }
        var read = RecordQuery(type: type)
        for filter in try objects(query, "filterBy", limits.filtersPerQueryMax) {
            read.filters.append(try self.filter(filter))
        }
        for sort in try objects(query, "sortBy", limits.sortsPerQueryMax) {
            read.sorts.append(try self.sort(sort))
        }
        return read
    }

    /// The objects of an array; some clients send a single object without an array.
    private func objects(
        _ query: RequestObject, _ key: StaticString, _ limit: Int
    ) throws(Fault) -> [RequestObject] {
        guard let member = query[key] else { return [] }
        if member.kind == .object { return [try RequestObject(member, key: key)] }
        guard member.kind == .array else {
            throw RequestObject.mismatch(member, key, "an array of objects")
        }
        guard member.count <= limit else {
            throw .limitExceeded("\(key): \(member.count) given; the limit is \(limit)")
        }
        var found: [RequestObject] = []
        for element in member.elements { found.append(try RequestObject(element, key: key)) }
        return found
    }

    private mutating func filter(_ object: RequestObject) throws(Fault) -> RecordQuery.Filter {
        let comparator = try object.requiredWord("comparator", RecordQuery.Comparator.self)
        let subject = try subject(object)
        let given = try object.requiredObject("fieldValue")
        let (type, value) = try values.decode(given, for: comparator)
        let isTypeGiven = given["type"] != nil
        return RecordQuery.Filter(
            subject: subject, comparator: comparator, type: type, isTypeGiven: isTypeGiven,
            value: value, distance: comparator == .near ? try distance(object) : nil)
    }

    /// The radius of a circle in metres; only NEAR has one, and other comparators ignore the value.
    private func distance(_ object: RequestObject) throws(Fault) -> Double {
        guard let member = object["distance"] else { throw RequestObject.missing("distance") }
        guard let metres = FieldValueWriter.double(member), metres >= 0 else {
            throw RequestObject.mismatch(member, "distance", "a number of metres, 0 or more")
        }
        return metres
    }

    private func sort(_ object: RequestObject) throws(Fault) -> RecordQuery.Sort {
        let subject = try subject(object)
        let ascending = try object.bool("ascending") ?? true
        guard let location = try object.object("relativeLocation") else {
            return RecordQuery.Sort(subject: subject, ascending: ascending)
        }
        let bare = try location.object("value")?.value ?? location.value
        guard let relativeTo = QueryValueDecoder.location(bare) else {
            throw RequestObject.mismatch(
                bare, "relativeLocation", QueryValueDecoder.locationExpected)
        }
        return RecordQuery.Sort(subject: subject, ascending: ascending, relativeTo: relativeTo)
    }

    /// What `fieldName` or `systemFieldName` names, in all spellings that clients use.
    ///
    /// A system field's wire name in `fieldName` means a plain field: a record type may have a field of that
    /// name, which only the schema knows.
    private func subject(_ object: RequestObject) throws(Fault) -> RecordQuery.Subject {
        let (field, system) = (
            try object.string("fieldName"), try object.string("systemFieldName")
        )
        let named = system.flatMap { SystemField(spelling: $0) }.map {
            RecordQuery.Subject.system($0)
        }
        if system != nil, named == nil { throw Self.unknown(object) }
        guard let field else {
            guard let named else { throw RequestObject.missing("fieldName") }
            return named
        }
        let found: RecordQuery.Subject
        if field.hasPrefix("___") {
            guard let system = SystemField(spelling: field) else {
                throw .badRequest(
                    "Unknown field '\(Fault.shown(field))'; system fields are \(Self.systemFields)")
            }
            found = .system(system)
        } else {
            guard let name = FieldName(field) else {
                throw .badRequest("Unknown field '\(Fault.shown(field))'")
            }
            found = .field(name)
        }
        guard named == nil || named == found || named?.wireName == found.wireName else {
            throw .badRequest("fieldName and systemFieldName: expected one of them, not both")
        }
        return named ?? found
    }

    private static func unknown(_ object: RequestObject) -> Fault {
        guard let member = object["systemFieldName"] else {
            return RequestObject.missing("systemFieldName")
        }
        return RequestObject.mismatch(member, "systemFieldName", "one of \(systemFields)")
    }

    private static let systemFields = SystemField.allCases
        .map { $0.wireName == $0.rawValue ? $0.rawValue : "\($0.wireName) (\($0.rawValue))" }
        .joined(separator: ", ")
}

extension QueryDecoder {
    static let shape = ObjectShape(
        "Query",
        [
            .required("recordType", .recordType()),
            .optional(
                "filterBy", .list(.object(filterShape), most: \ServiceLimits.filtersPerQueryMax)),
            .optional("sortBy", .list(.object(sortShape), most: \ServiceLimits.sortsPerQueryMax)),
        ])

    private static let filterShape = ObjectShape(
        "Filter", oneOf: subjects,
        [
            .required(
                "comparator", .words(RecordQuery.Comparator.self, examples: [.near])),
            .required("fieldValue", .object(QueryValueDecoder.shape)),
            .optional("distance", .number(example: 500)),
        ] + subjectKeys)

    private static let sortShape = ObjectShape(
        "Sort", oneOf: subjects,
        [
            .optional("ascending", .flag),
            .optional("relativeLocation", .object(QueryValueDecoder.centre)),
        ] + subjectKeys)

    private static let subjects = ["fieldName", "systemFieldName"]
    private static let subjectKeys: [ObjectKey] = [
        .optional("fieldName", .fieldName),
        .optional("systemFieldName", .text(examples: ["createdTimestamp"])),
    ]
}
