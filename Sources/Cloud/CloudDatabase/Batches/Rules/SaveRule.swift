import CloudModel
import Storage

/// What a save makes of a record: its type, fields, parent and links.
struct SaveRule {
    let context: BatchContext
    let view: BatchView

    /// - Parameter previous: the living record; nil when the save makes one.
    /// - Throws: `Fault` for the operation, `RefusedBatch` for the whole batch.
    func save(
        _ operation: RecordOperation, over previous: CurrentRecord?,
        _ schemaCheck: inout SchemaCheck
    ) throws -> DecidedStep {
        let key = context.key(operation.name)
        let shares = ShareRule(context)
        let previousBody = try previousBody(operation, over: previous)
        if previous == nil, operation.type == .share { try shares.checkLocationOfNewShare() }
        // What the caller may not read, the answer to their save does not tell them either.
        let isShown = try previous == nil || RightRule(context).allows(.read, key)
        let type = try type(of: operation, over: previous, previousBody, isShown: isShown)
        let (known, grown) = try schemaCheck.admit(
            operation.fields, of: type, SchemaGrowth(schema: context.schema, view: view))
        // Nor may they find out by a checksum which files the record holds.
        let assets = AssetRule(context)
        let admitted = try assets.admit(known, over: isShown ? previousBody : nil)
        let (sent, roles) = try RightRule(context).rolesApart(admitted, of: type, operation.name)
        if context.database.scope == .public {
            try sent.checkIndexedBytes(in: context.schema.types[type], context.limits)
        }
        let merge = try merged(sent, operation, over: previous, previousBody)
        try checkSize(of: merge, operation, isShown: isShown)
        try checkListValues(of: merge, isShown: isShown)
        let wanted: RecordName? =
            switch operation.parent {
            case .set(let name): name
            case .cleared: nil
            case .absent: operation.kind.merges ? previousBody?.parent : nil
            }
        let parent = try ParticipantRule(context).parent(
            wanted, of: operation, over: previous, previousParent: previousBody?.parent)
        var save = PlannedSave(
            type: type, fields: merge.bytes, created: previousBody?.created, parent: parent,
            links: try ReferenceRule(context: context, view: view).links(
                merge.references, parent: parent, of: operation.name, previous),
            refers: merge.references.contains { $0.action != .none },
            shown: isShown ? nil : PlannedSave.Shown(sent.bytes, operation.parent), roles: roles)
        try shares.addSharing(to: &save, operation, over: previous, previousBody: previousBody)
        save.assets = try assets.files(of: save, sent, over: previous)
        let bytes =
            save.growth(over: previousBody, as: operation.name, in: context.zone.name)
            - (try assets.heldBytes(of: previous))
        return DecidedStep(step: .save(save), charge: StepCharge(bytes: bytes), grown: grown)
    }

    /// What is kept of a living record; nil where there is none, and where all of it is replaced without being
    /// read, since it is not what was written.
    ///
    /// - Throws: `Fault` INTERNAL_ERROR for another save over such a record.
    private func previousBody(
        _ operation: RecordOperation, over previous: CurrentRecord?
    ) throws -> RecordBody.Previous? {
        guard let previous else { return nil }
        let isReplaced = previous.isDamaged && operation.kind == .forceReplace
        return isReplaced ? nil : try context.previousBody(context.key(operation.name))
    }

    private func type(
        of operation: RecordOperation, over previous: CurrentRecord?,
        _ previousBody: RecordBody.Previous?,
        isShown: Bool
    ) throws -> RecordTypeName {
        guard let type = operation.type ?? previousBody.flatMap({ RecordTypeName($0.type) }) else {
            throw Fault.badRequest("recordType: expected the record's type, as it is to be made")
        }
        if let previousBody, previousBody.type != type.text {
            throw Fault.badRequest(
                "recordType '\(type.text)' differs from the stored record's"
                    + (isShown ? ", '\(previousBody.type)'" : ""))
        }
        // Of a damaged record this much is known.
        if let previous, previousBody == nil, (type == .share) != previous.flags.contains(.share) {
            throw Fault.badRequest("recordType '\(type.text)' differs from the stored record's")
        }
        return type
    }

    private func merged(
        _ sent: EncodedFields, _ operation: RecordOperation, over previous: CurrentRecord?,
        _ previousBody: RecordBody.Previous?
    ) throws -> FieldMerge {
        let most = context.limits.indexedValuesPerRecordMax
        guard let previous, let previousBody, operation.kind.merges else {
            return try FieldMerge(only: sent, listValuesMax: most)
        }
        return try FieldMerge(
            sent, over: previousBody, hasLinks: previous.flags.contains(.hasLinks),
            listValuesMax: most)
    }

    /// Refuses lists with so many members that an index over them would keep the writer long.
    private func checkListValues(of merge: FieldMerge, isShown: Bool) throws(Fault) {
        let most = context.limits.indexedValuesPerRecordMax
        guard merge.listValues <= most else {
            throw .limitExceeded(
                "the lists of the record have " + (isShown ? "\(merge.listValues)" : "too many")
                    + " values; the limit is \(most)")
        }
    }

    private func checkSize(
        of merge: FieldMerge, _ operation: RecordOperation, isShown: Bool
    ) throws {
        let most = context.limits.recordBytesMax
        guard merge.bytes.count <= most else {
            throw RefusedBatch(
                fault: .limitExceeded(
                    "the fields of record '\(operation.name.text)' take "
                        + (isShown ? "\(merge.bytes.count)" : "too many")
                        + " bytes; the limit is \(most) (limits.recordBytesMax)"))
        }
    }
}
