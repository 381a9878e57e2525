import Seeding

extension SharingRun {
    // MARK: - What an owner does

    func ownerBatch() throws {
        let ownedZone = random.one(
            of: model.zones.keys.filter { people[$0.owner].recordName != nil }
                .sorted())
        let operations: [SharingOperation]
        switch random.below(100) {
        case 0..<40: operations = edits(ownedZone, by: ownedZone.owner)
        case 40..<55: operations = chain(ownedZone)
        case 55..<70: operations = fan(ownedZone)
        case 70..<94:
            operations = [loosen(ownedZone) ?? move(ownedZone)].compactMap(\.self)
        default: operations = deletionOfTree(ownedZone)
        }
        guard !operations.isEmpty else { return }
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: ownedZone.owner,
                isAtomic: ownedZone.zone != ModelledSharing.defaultZone && !random.happens(25),
                operations: operations))
    }

    func pool(_ ownedZone: OwnedZone) -> [String] {
        let zone = ownedZone.zone.hasPrefix("_") ? "d" : ownedZone.zone == "Common" ? "c" : "o"
        return ["same0", "same1"]
            + (0..<options.namesPerZone).map { "qzr\(ownedZone.owner)\(zone)\($0)zq" }
    }

    func newValue() -> String {
        values += 1
        return "\"qzv\(values)zq\""
    }

    func notes(_ ownedZone: OwnedZone) -> [String] {
        (model.zones[ownedZone]?.records ?? [:]).filter { $0.value.share == nil }.map(\.key)
            .sorted()
    }

    private func absent(_ ownedZone: OwnedZone) -> [String] {
        pool(ownedZone).filter { model.record($0, in: ownedZone) == nil }
    }

    /// A few operations of every kind on names that may be there.
    private func edits(_ ownedZone: OwnedZone, by user: Int) -> [SharingOperation] {
        pool(ownedZone).shuffled(using: &random).prefix(random.one(of: [1, 1, 1, 2, 3])).map {
            edit($0, ownedZone, by: user)
        }
    }

    private func edit(_ name: String, _ ownedZone: OwnedZone, by user: Int) -> SharingOperation {
        var operation = SharingOperation(
            random.one(of: [
                "create", "create", "update", "update", "forceUpdate", "forceUpdate", "replace",
                "forceReplace", "delete", "forceDelete",
            ]), name)
        tag(&operation, ownedZone)
        guard !operation.deletes else { return operation }
        if random.happens(70) { operation.fields["v"] = newValue() }
        if random.happens(40) { operation.fields["w"] = newValue() }
        if options.hasTies, random.happens(25) { tie(&operation, ownedZone) }
        let record = model.record(name, in: ownedZone)
        if random.happens(record == nil ? 60 : 20) {
            operation.parent = .set(
                random.any(of: notes(ownedZone)) ?? random.one(of: pool(ownedZone)))
        } else if random.happens(10) {
            operation.parent = .cleared
        }
        operation.makesGUID = random.happens(15) && user == ownedZone.owner
        return operation
    }

    /// Lets a record go with another one, by a name that may be out of sight or nobody's.
    func tie(_ operation: inout SharingOperation, _ ownedZone: OwnedZone) {
        var target = random.one(of: pool(ownedZone))
        if random.happens(70) { target = random.any(of: notes(ownedZone)) ?? target }
        operation.fields[ModelledSharing.referenceField] = ModelledSharing.reference(to: target)
    }

    /// Sends the record's tag, or one that it had.
    func tag(_ operation: inout SharingOperation, _ ownedZone: OwnedZone) {
        let record = model.record(operation.name, in: ownedZone)
        guard operation.compares else { return }
        if random.happens(15), let old = record.flatMap({ random.any(of: $0.oldTags) }),
            old != record?.tag
        {
            operation.tag = old
            operation.isTagStale = true
        } else {
            operation.tag = record?.tag ?? "zz"
        }
    }

    /// A deep tree at once.
    private func chain(_ ownedZone: OwnedZone) -> [SharingOperation] {
        var parent = random.any(of: notes(ownedZone))
        if random.happens(30) { parent = nil }
        return absent(ownedZone).shuffled(using: &random).prefix(2 + random.below(7)).map { name in
            var operation = SharingOperation("create", name)
            operation.fields["v"] = newValue()
            if let parent { operation.parent = .set(parent) }
            parent = name
            return operation
        }
    }

    /// A wide tree at once.
    private func fan(_ ownedZone: OwnedZone) -> [SharingOperation] {
        guard let parent = random.any(of: notes(ownedZone)) else { return [] }
        return absent(ownedZone).shuffled(using: &random).prefix(2 + random.below(8)).map { name in
            var operation = SharingOperation("create", name)
            operation.fields["v"] = newValue()
            operation.parent = .set(parent)
            return operation
        }
    }

    /// Gives a record another parent, or none.
    private func move(_ ownedZone: OwnedZone) -> SharingOperation? {
        guard let name = random.any(of: notes(ownedZone)) else { return nil }
        var operation = SharingOperation(random.one(of: ["update", "forceUpdate"]), name)
        tag(&operation, ownedZone)
        operation.parent = random.happens(25) ? .cleared : .set(random.one(of: notes(ownedZone)))
        return operation
    }

    /// Deletes a record and all that is below it, at times not quite all.
    private func deletionOfTree(_ ownedZone: OwnedZone) -> [SharingOperation] {
        guard let root = random.any(of: notes(ownedZone)) else { return [] }
        var names = model.tree(root, in: ownedZone).shuffled(using: &random)
        if random.happens(20) { names.removeLast() }
        return names.map { SharingOperation("forceDelete", $0) }
    }

    // MARK: - What others do

    func participantBatch() throws {
        let user = random.one(of: users)
        let others = model.zones.keys.filter { $0.owner != user && !$0.zone.hasPrefix("_") }
        let shared = model.sharedOwnedZones(of: user)
        guard
            let ownedZone = random.happens(90)
                ? random.any(of: shared) : random.any(of: others.sorted())
        else { return }
        let mine = notes(ownedZone).filter {
            model.permission(of: user, for: $0, in: ownedZone) != nil
        }
        var operations = work(user, ownedZone, mine)
        guard operations.isEmpty else {
            return try perform(
                SharingBatch(
                    ownedZone: ownedZone, user: user, isAtomic: !random.happens(25),
                    operations: operations)
            )
        }
        for _ in 0..<random.one(of: [1, 1, 1, 2, 3]) {
            guard let made = participantOperation(user, ownedZone, mine),
                !operations.contains(where: { $0.name == made.name })
            else { continue }
            operations.append(made)
        }
        guard !operations.isEmpty else { return }
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: user, isAtomic: !random.happens(25),
                operations: operations))
    }

    private func participantOperation(
        _ user: Int, _ ownedZone: OwnedZone, _ mine: [String]
    ) -> SharingOperation? {
        // One that they see, or any name that they may have heard of.
        let shares = model.shares(in: ownedZone).map(\.name)
        let name =
            random.happens(60)
            ? random.any(of: mine) : random.any(of: random.happens(80) ? pool(ownedZone) : shares)
        guard let name else { return nil }
        var operation = edit(name, ownedZone, by: user)
        guard !operation.deletes else { return operation }
        if shares.contains(name), random.happens(70) {
            operation.type = ModelledSharing.shareType
            operation.share = SharingOperation.ShareChange()
            operation.fields[ModelledSharing.referenceField] = nil
            operation.tag = operation.tag ?? model.record(name, in: ownedZone)?.tag
        }
        if model.record(name, in: ownedZone) == nil || random.happens(15) {
            operation.parent =
                random.happens(80)
                ? random.any(of: mine).map { .set($0) } ?? .absent
                : random.any(of: notes(ownedZone)).map { .set($0) } ?? .absent
        }
        return operation
    }

    // MARK: - Sending

    /// Sends a batch, holds the answer to what the model expects, and applies what succeeded.
    func perform(_ wanted: SharingBatch) throws {
        var batch = wanted
        if batch.operations.count == options.countSpared { batch.operations.removeLast() }
        let expected = model.outcomes(of: batch)
        // What a batch makes and takes away again, those who follow the whole zone are told is gone.
        for (operation, outcomes) in zip(batch.operations, expected ?? [])
        where outcomes.contains(nil) {
            for user in users where model.seesWhole(batch.ownedZone, user) {
                known[user].insert(operation.name)
            }
        }
        underWay = { model in
            model.apply(
                batch,
                succeeded: expected?.map { $0.contains(nil) }
                    ?? batch.operations.map { _ in false })
        }
        let body = body(of: batch)
        let answer = try send(
            batch.user, "\(batch.isOwners ? "private" : "shared")/records/modify", body)
        let makesShare = batch.operations.contains {
            $0.share != nil && model.record($0.name, in: batch.ownedZone) == nil
        }
        if makesShare, !batch.isAtomic, batch.isOwners,
            batch.ownedZone.zone != ModelledSharing.defaultZone, expected != nil
        {
            try expect(answer, 400, "BAD_REQUEST")
        } else if let expected {
            try judge(answer, batch, expected)
        } else {
            try expect(answer, 404, "ZONE_NOT_FOUND")
            note("batch in a zone unseen")
        }
        underWay = nil
    }

    private func judge(
        _ answer: SharingAnswer, _ batch: SharingBatch, _ expected: [SharingOutcomes]
    ) throws {
        let items = answer["records"].elements
        guard answer.status == 200, items.count == batch.operations.count else {
            throw SharingFailure("expected \(expected), not \(answer.text)")
        }
        let who = batch.isOwners ? "owner" : "participant"
        for ((operation, outcomes), item) in zip(zip(batch.operations, expected), items) {
            guard outcomes.contains(item.code) else {
                throw SharingFailure(
                    "\(operation.kind) of \(operation.name) by user \(batch.user): expected "
                        + "\(outcomes.map { $0 ?? "success" }.sorted()), not \(item.raw)")
            }
            let what = operation.share != nil ? "share" : operation.kind
            note("\(who) \(what) \(item.code ?? "done")")
        }
        let succeeded = items.map { $0.code == nil }
        guard !batch.isAtomic || Set(succeeded).count == 1 else {
            throw SharingFailure("half an atomic batch: \(answer.text)")
        }
        let previous = notes(batch.ownedZone)
        model.apply(batch, succeeded: succeeded)
        let named = Set(batch.operations.map(\.name))
        if previous.contains(where: {
            !named.contains($0) && model.record($0, in: batch.ownedZone) == nil
        }) {
            note("\(who) takes records along")
        }
        try compare(items, batch)
    }

    /// What a successful item shows must be the record as saved.
    private func compare(_ items: [SharingJSON], _ batch: SharingBatch) throws {
        let viewing = SharingViews(people: people)
        let view = viewing.zone(batch.ownedZone, for: batch.user, of: model)
        for (operation, item) in zip(batch.operations, items) where item.code == nil {
            if operation.deletes {
                guard item["deleted"].bool == true, item.keys == ["recordName", "deleted"] else {
                    throw SharingFailure("no deletion: \(item.raw)")
                }
                continue
            }
            guard var expected = view[operation.name] else { continue }
            let found = item.record
            // What the server chooses is learnt later, from what the owner is shown.
            expected.tag = found.tag
            if expected.guid == nil || expected.sharing != nil { expected.guid = found.guid }
            if expected.sharing != nil { expected.sharing = found.sharing }
            guard found == expected else {
                throw SharingFailure("saved as\n\(found)\nnot as\n\(expected)")
            }
        }
    }

    // MARK: - JSON

    private func body(of batch: SharingBatch) -> String {
        var members = [
            "\"operations\":[\(batch.operations.map(json).joined(separator: ","))]",
            "\"zoneID\":\(zoneID(batch.ownedZone, for: batch.user))",
        ]
        if batch.ownedZone.zone != ModelledSharing.defaultZone {
            members.append("\"atomic\":\(batch.isAtomic)")
        }
        return "{\(members.joined(separator: ","))}"
    }

    func zoneID(_ ownedZone: OwnedZone, for user: Int) -> String {
        let owner =
            ownedZone.owner == user ? "" : ",\"ownerRecordName\":\"\(name(ownedZone.owner))\""
        return "{\"zoneName\":\"\(ownedZone.zone)\"\(owner)}"
    }

    private func json(_ operation: SharingOperation) -> String {
        var members = ["\"recordName\":\"\(operation.name)\""]
        if let tag = operation.tag { members.append("\"recordChangeTag\":\"\(tag)\"") }
        if !operation.deletes {
            let type = operation.share == nil ? operation.type : ModelledSharing.shareType
            members.append("\"recordType\":\"\(type)\"")
            let fields = operation.fields.sorted { $0.key < $1.key }
                .map { name, value in
                    let type = name == ModelledSharing.referenceField ? "REFERENCE" : "STRING"
                    return "\"\(name)\":{\"value\":\(value),\"type\":\"\(type)\"}"
                }
            members.append("\"fields\":{\(fields.joined(separator: ","))}")
            switch operation.parent {
            case .absent: break
            case .cleared: members.append("\"parent\":null")
            case .set(let name): members.append("\"parent\":{\"recordName\":\"\(name)\"}")
            }
            if operation.makesGUID { members.append("\"createShortGUID\":true") }
            if let share = operation.share { members += json(share) }
        }
        return "{\"operationType\":\"\(operation.kind)\",\"record\":"
            + "{\(members.joined(separator: ","))}}"
    }

    private func json(_ share: SharingOperation.ShareChange) -> [String] {
        var members: [String] = []
        if let root = share.root {
            let tag = share.rootTag.map { ",\"recordChangeTag\":\"\($0)\"" } ?? ""
            members.append("\"forRecord\":{\"recordName\":\"\(root)\"\(tag)}")
        }
        if let permission = share.publicPermission {
            members.append("\"publicPermission\":\"\(permission.rawValue)\"")
        }
        if let entries = share.entries {
            let list = entries.map(json).joined(separator: ",")
            members.append("\"participants\":[\(list)]")
        }
        if let allows = share.allowsRequests {
            members.append("\"allowsAccessRequests\":\(allows)")
        }
        for (key, people) in [
            ("approve", share.approve), ("deny", share.deny), ("block", share.block),
            ("unblock", share.unblock),
        ] where !people.isEmpty {
            let names = people.map { "\"\(name($0))\"" }.joined(separator: ",")
            members.append("\"\(key)\":[\(names)]")
        }
        return members
    }

    private func json(_ entry: SharingOperation.ShareChange.Entry) -> String {
        let lookup =
            switch entry.handle {
            case .name(let user), .link(let user): "\"userRecordName\":\"\(name(user))\""
            case .email(let text): "\"emailAddress\":\"\(text)\""
            case .phone(let text): "\"phoneNumber\":\"\(text)\""
            case .first: ""
            }
        var id = entry.id.map { "\"participantId\":\"\($0)\"," } ?? ""
        if lookup.isEmpty, entry.id == nil { id = "\"oneTimeLink\":true," }
        return "{\(id)\"type\":\"\(entry.role.rawValue)\","
            + "\"permission\":\"\(entry.permission.rawValue)\",\"acceptanceStatus\":\"INVITED\","
            + "\"userIdentity\":{\"lookupInfo\":{\(lookup)}}}"
    }
}
