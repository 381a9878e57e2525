import CloudModel
import JSON
import Storage

/// A save that may go ahead: all of the new version except its position.
struct PlannedSave {
    var type: RecordTypeName
    /// The members of `fields`, joined by commas.
    var fields: [UInt8]
    /// The previous version's `created` object; nil for a new record.
    var created: [UInt8]?
    var parent: RecordName?
    var links: [Link]
    /// Whether fields hold references that act, or that would act if their zone existed.
    var refers: Bool
    /// The files that the fields hold.
    var assets: Set<AssetContent> = []
    /// What the answer shows when the caller may not read the record; nil to show all of it.
    var shown: Shown?
    /// The roles that a save of a `Users` record gives the user; nil to leave them as they are.
    var roles: Set<Int64>?

    /// The values that the caller sent.
    struct Shown {
        let fields: [UInt8]
        let parent: RecordName?

        init(_ fields: [UInt8], _ parent: RecordOperation.Parent) {
            self.fields = fields
            if case .set(let name) = parent { self.parent = name } else { self.parent = nil }
        }
    }
    /// What the body will say about sharing.
    var sharing = RecordBody.Sharing()
    /// What happens to the share; nil for a record that is no share.
    var share: PlannedShare?

    /// About how many bytes the save adds to the owner's records.
    ///
    /// It leaves out the lengths of the tag, the parent and the device, and the assets that the former
    /// version held. Otherwise it is exact.
    func growth(
        over previousBody: RecordBody.Previous?, as name: RecordName, in zone: ZoneName
    ) -> Int64 {
        let files = assets.reduce(Int64(0)) { $0 + Int64($1.size) }
        if let previousBody { return Int64(fields.count - previousBody.fieldsText.count) + files }
        let names = name.text.utf8.count + zone.text.utf8.count + type.text.utf8.count
        return Int64(fields.count + names + Self.frameBytes) + files
    }

    /// About how many bytes a body takes without its fields and names.
    private static let frameBytes = 460
}

/// Finds sent fields by the names of stored ones; they nearly always come in the same order.
private struct SentFields {
    private let fields: [EncodedFields.Field]
    private(set) var isTaken: [Bool]
    private lazy var offsets: [String: Int] = Dictionary(
        fields.enumerated().map { ($1.name.text, $0) }, uniquingKeysWith: { _, last in last })

    init(_ fields: [EncodedFields.Field]) {
        self.fields = fields
        isTaken = [Bool](repeating: false, count: fields.count)
    }

    /// Takes the sent field of a name; nil when there is none.
    mutating func take(_ name: String, likely offset: Int) -> Int? {
        let isThere = offset < fields.count && fields[offset].name.text == name
        guard let found = isThere ? offset : offsets[name], !isTaken[found] else { return nil }
        isTaken[found] = true
        return found
    }
}

/// Joins the fields that a save sends with those that stay from the previous version.
struct FieldMerge {
    private(set) var bytes: [UInt8] = []
    /// The references in the fields of the new version.
    private(set) var references: [FieldReference] = []
    /// How many list members indexes may have to hold; 0 when they are too few to count.
    private(set) var listValues = 0

    /// The fields of a new record, or of a record whose former fields all go.
    ///
    /// - Parameter listValuesMax: up to this many list members need no counting.
    init(only sent: EncodedFields, listValuesMax: Int) throws {
        bytes = sent.bytes
        for field in sent.fields where !field.references.isEmpty {
            references += field.references
        }
        guard Self.mayHoldMore(than: listValuesMax, inBytes: bytes.count) else { return }
        for field in sent.fields where field.type != nil {
            listValues += try Self.listValues(in: sent.bytes[field.range])
        }
    }

    /// The former fields in their places, changed or cleared as sent; then the new fields.
    ///
    /// - Parameters:
    ///   - hasLinks: whether the former fields may hold references that act.
    ///   - listValuesMax: up to this many list members need no counting.
    init(
        _ sent: EncodedFields, over previousBody: RecordBody.Previous, hasLinks: Bool,
        listValuesMax: Int
    ) throws {
        let counts = Self.mayHoldMore(
            than: listValuesMax, inBytes: sent.bytes.count + previousBody.fieldsText.count)
        bytes.reserveCapacity(sent.bytes.count + previousBody.fieldsText.count + 1)
        var sentFields = SentFields(sent.fields)
        for (offset, known) in previousBody.body.members.enumerated() {
            let member = previousBody.body.text(of: known)
            if let index = sentFields.take(previousBody.body.name(of: known), likely: offset) {
                let field = sent.fields[index]
                guard field.type != nil else { continue }
                try append(sent.bytes[field.range], field.references, counts)
            } else {
                let references = hasLinks ? try Self.references(in: member) : []
                try append(member, references, counts)
            }
        }
        for (index, field) in sent.fields.enumerated()
        where !sentFields.isTaken[index] && field.type != nil {
            try append(sent.bytes[field.range], field.references, counts)
        }
    }

    /// Whether this many bytes of fields may hold more list members than `most`: each takes two bytes.
    private static func mayHoldMore(than most: Int, inBytes count: Int) -> Bool {
        count / 2 > most
    }

    private static let listEnding = Array("_LIST\"}".utf8)
    private static let assetsEnding = Array("\"ASSETID_LIST\"}".utf8)

    /// How many values of a stored member indexes hold one by one.
    private static func listValues(in member: ArraySlice<UInt8>) throws -> Int {
        guard member.suffix(listEnding.count).elementsEqual(listEnding),
            !member.suffix(assetsEnding.count).elementsEqual(assetsEnding)
        else { return 0 }
        let text = [UInt8(ascii: "{")] + member + [UInt8(ascii: "}")]
        let field = try JSONDocument(parsing: text).root.members.first { _ in true }?.value
        return field?["value"]?.count ?? 0
    }

    private mutating func append(
        _ member: ArraySlice<UInt8>, _ found: [FieldReference], _ counts: Bool
    ) throws {
        if counts { listValues += try Self.listValues(in: member) }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: member)
        references.append(contentsOf: found)
    }

    private static func references(in member: ArraySlice<UInt8>) throws -> [FieldReference] {
        let text = [UInt8(ascii: "{")] + member + [UInt8(ascii: "}")]
        let document = try JSONDocument(parsing: text)
        guard let field = document.root.members.first(where: { _ in true })?.value,
            let tag = field["type"], let value = field["value"]
        else { return [] }
        if tag.stringEquals("REFERENCE") { return reference(value).map { [$0] } ?? [] }
        guard tag.stringEquals("REFERENCE_LIST") else { return [] }
        return value.elements.compactMap(reference)
    }

    private static func reference(_ value: JSONValue) -> FieldReference? {
        guard let name = value["recordName"]?.string.flatMap({ RecordName($0) }),
            let action = value["action"]?.string.flatMap({ FieldReference.Action(rawValue: $0) })
        else { return nil }
        let zone = value["zoneID"]?["zoneName"]?.string.flatMap { ZoneName($0) }
        return FieldReference(name: name, zone: zone.map { ZoneID(name: $0) }, action: action)
    }
}
