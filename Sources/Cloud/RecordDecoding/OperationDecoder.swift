import CloudModel
import JSON

/// Reads the operations of `records/modify` (web-services.md §4.2).
package struct OperationDecoder {
    let zones: ZoneReader
    /// What the request wants for all of its answers.
    let rendering: RecordRendering
    let limits: ServiceLimits
    /// Makes the name of a record that has none.
    let makeName: () -> RecordName

    package init(
        zones: ZoneReader, rendering: RecordRendering, limits: ServiceLimits,
        makeName: @escaping () -> RecordName
    ) {
        self.zones = zones
        self.rendering = rendering
        self.limits = limits
        self.makeName = makeName
    }

    /// - Throws: `Fault` BAD_REQUEST when the whole request is unreadable. A mistake in one record comes back
    ///   as that record's item.
    package func decode(_ elements: JSONElements) throws(Fault) -> [DecodedOperation] {
        var decoded: [DecodedOperation] = []
        for element in elements {
            decoded.append(try decode(try RequestObject(element, key: "operations")))
        }
        return decoded
    }

    private func decode(_ operation: RequestObject) throws(Fault) -> DecodedOperation {
        let kind = try operation.requiredWord("operationType", RecordOperation.Kind.self)
        return try decode(
            try operation.requiredObject("record"), as: kind, renderedBy: operation)
    }

    /// Reads the record of an operation, as records are answered too.
    ///
    /// - Parameters:
    ///   - kind: what is to be done with it.
    ///   - operation: how it is to be shown; nil where nobody asks.
    /// - Throws: as `decode` of several.
    package func decode(
        _ record: RequestObject, as kind: RecordOperation.Kind,
        renderedBy operation: RequestObject? = nil
    ) throws(Fault) -> DecodedOperation {
        let given = try record.string("recordName")
        if given == nil, kind != .create { throw RequestObject.missing("recordName") }
        let tag = try record.string("recordChangeTag")
        if tag == nil, kind == .update || kind == .replace {
            throw RequestObject.missing("recordChangeTag")
        }
        let type = try record.string("recordType")
        if type == nil, kind == .create { throw RequestObject.missing("recordType") }
        // Some clients put desiredKeys into the record.
        let own = try record.rendering(over: rendering)
        let rendering = try operation?.rendering(over: own) ?? own
        let fields = try record.object("fields")
        let parentName = try parentName(record)
        let createsShortGUID = try record.bool("createShortGUID") ?? false
        let name = given ?? makeName().text
        do {
            let type = try recordType(type, kind)
            let isShare = !kind.deletes && (type == nil || type == .share)
            let share = isShare ? try share(record) : nil
            return .operation(
                RecordOperation(
                    kind: kind, name: try recordName(name, type), type: type, changeTag: tag,
                    fields: kind.deletes
                        ? EncodedFields()
                        : try FieldDecoder.decode(
                            fields, zones: zones,
                            listValuesMax: limits.indexedValuesPerRecordMax),
                    parent: try parent(record, named: parentName), share: share,
                    createsShortGUID: createsShortGUID, rendering: rendering))
        } catch let fault as Fault {
            return .fault(name: name, fault)
        } catch let found as ShareDecoder.ItemFault {
            return .fault(name: name, found.fault)
        } catch let found as FieldDecoder.RequestFault {
            throw found.fault
        } catch {
            throw .badRequest("record: unreadable")
        }
    }

    private func recordName(
        _ text: String, _ type: RecordTypeName?
    ) throws(Fault) -> RecordName {
        guard let name = RecordName(text) else {
            throw .badRequest(
                "recordName: expected 1 to \(RecordName.bytesMax) printable ASCII characters")
        }
        // Users may save their own records; that is decided once the record is at hand.
        let mayBeOfUser =
            UserRecordName(text) != nil && (type == nil || type == .users)
        guard !name.isReserved || mayBeOfUser else {
            throw .badRequest("recordName: names that start with _ are made by the server only")
        }
        return name
    }

    private func recordType(
        _ text: String?, _ kind: RecordOperation.Kind
    ) throws(Fault) -> RecordTypeName? {
        guard let text, !kind.deletes else { return nil }
        guard let type = RecordTypeName(text) else {
            guard !["cloudkit.share", "cloudkit.shared"].contains(text.lowercased()) else {
                throw .badRequest(
                    "Cannot share - no such record exists to share; expected recordType "
                        + "'cloudkit.share' in exactly this case")
            }
            throw Fault(
                .notFound,
                "recordType '\(Fault.shown(text))': expected a letter, then letters, digits and _, "
                    + "at most 255")
        }
        return type
    }

    /// What a share says beside its fields; a fault of the whole request keeps its rank.
    private func share(_ record: RequestObject) throws -> ShareRequest? {
        do {
            return try ShareDecoder.decode(
                record, participantsMax: limits.participantsPerShareMax)
        } catch let fault as Fault {
            throw FieldDecoder.RequestFault(fault: fault)
        }
    }

    /// The name in `parent`; its JSON is checked before anything else of the record.
    private func parentName(_ record: RequestObject) throws(Fault) -> String? {
        guard let object = try record.object("parent") else { return nil }
        guard let name = try object.string("recordName") else {
            throw RequestObject.mismatch(object.value, "parent", "an object with recordName")
        }
        return name
    }

    private func parent(
        _ record: RequestObject, named text: String?
    ) throws(Fault) -> RecordOperation.Parent {
        guard let text else { return record.value["parent"] == nil ? .absent : .cleared }
        guard let name = RecordName(text) else {
            throw .badRequest("parent: no record can have the name '\(Fault.shown(text))'")
        }
        return .set(name)
    }
}

extension OperationDecoder {
    package static let shape = ObjectShape(
        "RecordOperation",
        [
            .required("operationType", .words(RecordOperation.Kind.self, examples: [.forceUpdate])),
            .required("record", .object(record)),
        ] + ObjectKey.rendering)

    private static let record = ObjectShape(
        "RecordToSave",
        [
            .optional("recordName", .recordName), .optional("recordChangeTag", .text),
            .optional("recordType", .recordType(["Note", RecordTypeName.share.text])),
            .optional("fields", .map(.object(FieldDecoder.shape))),
            .optional(
                "parent",
                .object(ObjectShape("Parent", [.required("recordName", .recordName)]))),
            .optional("createShortGUID", .flag),
        ] + ObjectKey.rendering + ShareDecoder.keys)
}
