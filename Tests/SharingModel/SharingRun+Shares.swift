import Seeding

extension SharingRun {
    private typealias Entry = SharingOperation.ShareChange.Entry

    private var ownedZones: [OwnedZone] {
        model.zones.keys.filter {
            people[$0.owner].recordName != nil && $0.zone != ModelledSharing.defaultZone
        }.sorted()
    }

    /// Every share that stands, with its place.
    func openShares() -> [(ownedZone: OwnedZone, name: String, share: ModelledSharing.Share)] {
        model.zones.keys.sorted().flatMap { ownedZone in
            model.shares(in: ownedZone).map { (ownedZone, $0.name, $0.share) }
        }
    }

    // MARK: - Making

    func makeShare() throws {
        let ownedZone = random.one(of: ownedZones)
        var operations: [SharingOperation] = []
        let isWhole = random.happens(15)
        var share = SharingOperation(
            "create", isWhole ? ModelledSharing.zoneShare : shareName(ownedZone))
        var change = SharingOperation.ShareChange()
        if !isWhole {
            var candidates = notes(ownedZone)
            let parents = candidates.filter { !model.children(of: $0, in: ownedZone).isEmpty }
            if !parents.isEmpty, random.happens(60) { candidates = parents }
            if let root = random.any(of: candidates), random.happens(75) {
                change.root = root
                let record = model.record(root, in: ownedZone)
                change.rootTag = random.happens(95) ? record?.tag : nil
                if random.happens(10), let old = random.any(of: record?.oldTags ?? []) {
                    change.rootTag = old
                    change.isRootTagStale = old != record?.tag
                }
                if random.happens(40) {
                    var save = SharingOperation("update", root)
                    save.tag = record?.tag
                    save.fields["v"] = newValue()
                    save.makesGUID = random.happens(50)
                    operations.append(save)
                }
            } else if let root = pool(ownedZone).first(where: {
                model.record($0, in: ownedZone) == nil
            }) {
                var save = SharingOperation("create", root)
                save.fields["v"] = newValue()
                save.makesGUID = random.happens(50)
                if random.happens(20) {
                    save.parent = random.any(of: candidates).map { .set($0) } ?? .absent
                }
                operations.append(save)
                change.root = root
            }
        }
        change.publicPermission = random.one(of: [nil, .nothing, .nothing, .readOnly, .readWrite])
        change.entries =
            random.happens(80) ? invitations(ownedZone, beside: []) + firstEntries() : nil
        addDecisions(to: &change, over: nil)
        share.share = change
        if random.happens(60) { share.fields["cloudkit.title"] = newValue() }
        operations.append(share)
        if random.happens(30) { operations.reverse() }
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: ownedZone.owner, isAtomic: !random.happens(3),
                operations: operations))
    }

    private func shareName(_ ownedZone: OwnedZone) -> String {
        "qzs\(ownedZone.owner)\(ownedZone.zone == "Common" ? "c" : "o")\(random.below(4))zq"
    }

    /// Invitations of people who are not among those, by any of their addresses.
    private func invitations(
        _ ownedZone: OwnedZone, beside present: [ModelledSharing.Participant]
    ) -> [Entry] {
        let taken = Set(present.compactMap { model.person(of: $0) } + [ownedZone.owner])
        let handlesTaken = Set(present.map(\.handle))
        return people.shuffled(using: &random).prefix(random.one(of: [0, 1, 2, 3, 4])).compactMap {
            person in
            guard !taken.contains(person.index) else { return nil }
            let isAnyTaken = ([.email(person.email)] + person.laterAddresses)
                .contains { handlesTaken.contains($0) }
            guard !isAnyTaken else { return nil }
            var handles: [ModelledSharing.Handle] = [.email(person.email)] + person.laterAddresses
            if person.recordName != nil { handles.append(.name(person.index)) }
            let isAdministrator = random.happens(15)
            return Entry(
                handle: random.one(of: handles), role: isAdministrator ? .administrator : .user,
                permission: isAdministrator
                    ? .readWrite : anyPermission())
        }
    }

    private func anyPermission() -> ModelledSharing.Permission {
        options.hasTies
            ? random.one(of: [.readOnly, .readOnly, .readWrite, .readWrite, .nothing])
            : random.one(of: [.readOnly, .readWrite])
    }

    // MARK: - Changing

    func changeShare() throws {
        guard let (ownedZone, name, share) = random.any(of: openShares()) else { return }
        var user = ownedZone.owner
        let accepted = share.participants.filter { $0.status == .accepted }
        let likely = accepted.filter { $0.role == .administrator || random.happens(20) }
        if random.happens(35), let one = random.any(of: likely)?.user { user = one }
        var operation = SharingOperation("update", name)
        operation.type = ModelledSharing.shareType
        tag(&operation, ownedZone)
        var change = SharingOperation.ShareChange()
        if random.happens(25) {
            change.publicPermission = random.one(of: [.nothing, .nothing, .readOnly, .readWrite])
        }
        if random.happens(75) {
            change.entries = changedEntries(share, ownedZone, user) + firstEntries()
        }
        addDecisions(to: &change, over: share)
        if random.happens(user == ownedZone.owner ? 30 : 5) {
            operation.fields["cloudkit.title"] = newValue()
        }
        operation.share = change
        try perform(
            SharingBatch(ownedZone: ownedZone, user: user, isAtomic: true, operations: [operation]))
    }

    private func changedEntries(
        _ share: ModelledSharing.Share, _ ownedZone: OwnedZone, _ user: Int
    ) -> [Entry] {
        var entries = share.participants.compactMap { participant -> Entry? in
            let isOwn = participant.user == user
            if !isOwn, random.happens(20) { return nil }
            var entry = Entry(
                id: random.happens(80) || participant.isNamedByID ? participant.id : nil,
                handle: participant.handle, role: participant.role,
                permission: participant.permission)
            guard !isOwn, participant.role != .publicUser, random.happens(30) else { return entry }
            entry.permission = anyPermission()
            let isAdministrator =
                participant.role == .administrator
                ? random.happens(70) : random.happens(user == ownedZone.owner ? 30 : 3)
            entry.role = isAdministrator ? .administrator : .user
            if isAdministrator { entry.permission = .readWrite }
            if participant.user == nil, case .first = participant.handle { entry.role = .user }
            return entry
        }
        if random.happens(50) {
            entries += invitations(ownedZone, beside: share.participants)
        }
        return entries
    }

    // MARK: - Ending

    func leave() throws {
        let joined = openShares().flatMap { found in
            found.share.participants.filter { $0.status == .accepted }.compactMap { entry in
                entry.user.map { (found.ownedZone, found.name, found.share.root, $0) }
            }
        }
        guard let (ownedZone, name, root, user) = random.any(of: joined) else { return }
        let isByRoot = root != nil && random.happens(15)
        let operation = SharingOperation("forceDelete", isByRoot ? root ?? name : name)
        let batch = SharingBatch(
            ownedZone: ownedZone, user: user, isAtomic: random.happens(70), operations: [operation])
        try perform(batch)
        guard !isByRoot else { return }
        note("left")
        guard random.happens(40) else { return }
        try commit()
        // Once more: what has been left is no error, whatever is still to be seen beside it.
        let again = try send(
            user, "shared/records/modify",
            "{\"zoneID\":\(zoneID(ownedZone, for: user)),\"operations\":"
                + "[{\"operationType\":\"forceDelete\",\"record\":{\"recordName\":\"\(name)\"}}]}")
        let code = again.code ?? again["records"].elements.first?.code
        guard [nil, "ZONE_NOT_FOUND", "NOT_FOUND"].contains(code) else {
            throw SharingFailure("leaving again: \(again.text)")
        }
    }

    func stopSharing() throws {
        guard let (ownedZone, name, share) = random.any(of: openShares()) else { return }
        var operations = [SharingOperation(random.one(of: ["delete", "forceDelete"]), name)]
        tag(&operations[0], ownedZone)
        if let root = share.root, random.happens(25) {
            // With the root itself, which may have children.
            operations.append(SharingOperation("forceDelete", root))
            if random.happens(50) { operations.reverse() }
        }
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: ownedZone.owner, isAtomic: !random.happens(20),
                operations: operations))
    }

    func changeZone() throws {
        let user = random.one(of: users)
        let zone = random.one(of: options.zones)
        let ownedZone = OwnedZone(owner: user, zone: zone == "own" ? "qzz\(user)zq" : zone)
        let isMade = model.zones[ownedZone] == nil || random.happens(60)
        underWay = { if isMade { $0.makeZone(ownedZone) } else { _ = $0.removeZone(ownedZone) } }
        let answer = try send(
            user, "private/zones/modify",
            Self.zoneBody(isMade ? "create" : "delete", ownedZone.zone))
        try expect(answer, 200, nil)
        guard answer["zones"].elements.first?.code == nil else {
            throw SharingFailure("zone: \(answer.text)")
        }
        if isMade { model.makeZone(ownedZone) } else { _ = model.removeZone(ownedZone) }
        underWay = nil
        note(isMade ? "zone made" : "zone deleted")
    }

    // MARK: - Links

    /// Somebody opens a link, which may have been meant for them.
    func useLink() throws {
        let user = random.one(of: users)
        let accepts = random.happens(70)
        let all = openShares().filter { model.record($0.name, in: $0.ownedZone)?.guid != nil }
        let likely = all.filter {
            $0.share.publicPermission != .nothing || model.invitation(of: user, in: $0.share) != nil
        }
        let from = random.happens(75) && !likely.isEmpty ? likely : all
        var chosen: [(ownedZone: OwnedZone, name: String, share: ModelledSharing.Share)] = []
        for _ in 0..<random.one(of: [1, 1, 1, 2, 3]) {
            if let one = random.any(of: from),
                !chosen.contains(where: { $0.ownedZone == one.ownedZone && $0.name == one.name })
            {
                chosen.append(one)
            }
        }
        if chosen.count == options.countSpared { chosen.removeLast() }
        guard !chosen.isEmpty else { return }
        var values = chosen.compactMap { model.record($0.name, in: $0.ownedZone)?.guid }
        let isSpoilt = random.happens(8) && values.count + 1 != options.countSpared
        if isSpoilt { values.append("0AbCdEfGhIjKlMnOpQrStUvWx") }
        let mayAll =
            !isSpoilt && chosen.allSatisfy { model.maySee(user, share: $0.share, in: $0.ownedZone) }
        if mayAll {
            let viewing = SharingViews(people: people)
            for one in chosen {
                known[user].formUnion(
                    viewing.invitationSecrets(one.name, in: one.ownedZone, of: model))
            }
        }
        let ownedZones = chosen.map { ($0.ownedZone, $0.name) }
        underWay = { model in
            guard accepts, mayAll else { return }
            for (ownedZone, name) in ownedZones { model.accept(name, user: user, in: ownedZone) }
            model.touched.formUnion(ownedZones.map(\.0))
        }
        let list = values.map { "{\"value\":\"\($0)\",\"shouldFetchRootRecord\":true}" }
        let answer = try send(
            user, "public/records/\(accepts ? "accept" : "resolve")",
            "{\"shortGUIDs\":[\(list.joined(separator: ","))]}")
        underWay = nil
        guard mayAll else {
            try expect(answer, 404, "NOT_FOUND")
            return note("link refused")
        }
        note(accepts ? "link accepted" : "link resolved")
        try expect(answer, 200, nil)
        if accepts {
            for (ownedZone, name) in ownedZones { model.accept(name, user: user, in: ownedZone) }
        }
        model.touched.formUnion(ownedZones.map(\.0))
        let results = answer["results"].elements
        guard results.count == chosen.count else { throw SharingFailure(answer.text) }
        for (one, result) in zip(ownedZones, results) { try judge(result, one.0, one.1, user) }
    }

    /// - Parameter first: whom the link is for that the user came by, and has not accepted.
    func judge(
        _ result: SharingJSON, _ ownedZone: OwnedZone, _ name: String, _ user: Int,
        by first: ModelledSharing.Participant? = nil
    ) throws {
        guard let share = model.record(name, in: ownedZone)?.share else { return }
        let isOwner = user == ownedZone.owner
        let entry = model.participation(of: user, in: share)
        let invited = model.invitation(of: user, in: share) ?? first
        let role = isOwner ? .owner : (entry ?? invited)?.role ?? .publicUser
        let permission =
            isOwner ? .readWrite : (entry ?? invited)?.permission ?? share.publicPermission
        let expected = [
            "ownerRecordName": self.name(ownedZone.owner), "zoneName": ownedZone.zone,
            "rootRecordName": share.root ?? ModelledSharing.zoneShare,
            "databaseScope": isOwner ? "PRIVATE" : "SHARED", "participantType": role.rawValue,
            "participantStatus": isOwner
                ? "ACCEPTED" : ((entry ?? invited)?.status ?? .invited).rawValue,
            "participantPermission": permission.rawValue,
            "owner": self.name(ownedZone.owner), "share": name,
            "rootRecord": share.root ?? "",
        ]
        let zone = result["zoneID"]
        let found = [
            "ownerRecordName": zone["ownerRecordName"].string, "zoneName": zone["zoneName"].string,
            "rootRecordName": result["rootRecordName"].string,
            "databaseScope": result["databaseScope"].string,
            "participantType": result["participantType"].string,
            "participantStatus": result["participantStatus"].string,
            "participantPermission": result["participantPermission"].string,
            "owner": result["ownerIdentity"]["userRecordName"].string,
            "share": result["share"]["recordName"].string,
            "rootRecord": result["rootRecord"]["recordName"].string ?? "",
        ]
        for (key, value) in expected.sorted(by: { $0.key < $1.key }) where found[key] != value {
            throw SharingFailure("\(key) should be \(value) in \(result.raw)")
        }
    }

    // MARK: - Addresses

    /// Somebody shows that an address is theirs, or gets their account.
    func prove() throws {
        if let user = people.indices.first(where: { people[$0].recordName == nil }) {
            guard random.happens(50) else { return }
            return try join(user)
        }
        let open = people.flatMap { person in
            person.laterAddresses.filter { model.verified[$0] == nil }.map { (person.index, $0) }
        }
        guard let (user, handle) = random.any(of: open) else { return }
        try wire.verify(handle, of: people[user])
        model.verify(handle, as: user)
        model.touched.formUnion(model.zones.keys)
        note("address verified")
    }
}

extension ModelledSharing.Participant {
    /// Whether nothing but the id names them in a list that is sent back.
    fileprivate var isNamedByID: Bool {
        switch handle {
        case .link, .first: true
        case .name, .email, .phone: false
        }
    }
}
