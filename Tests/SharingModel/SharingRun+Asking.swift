import Seeding

extension SharingRun {
    private typealias Entry = SharingOperation.ShareChange.Entry

    /// One of the things that runs of earlier seeds do not do.
    ///
    /// - Returns: whether it was done.
    func ask() throws -> Bool {
        guard options.hasAsking, random.happens(14) else { return false }
        if random.happens(60) { try requestAccess() } else { try useFirstLink() }
        return true
    }

    /// Somebody asks to take part in what a link leads to, or does not.
    private func requestAccess() throws {
        let user = random.one(of: users)
        let all = openShares().filter { model.record($0.name, in: $0.ownedZone)?.guid != nil }
        let likely = all.filter {
            model.admitsRequest(of: user, for: $0.share, in: $0.ownedZone)
        }
        guard let one = random.any(of: random.happens(70) && !likely.isEmpty ? likely : all) else {
            return
        }
        let isSpoilt = random.happens(10)
        let guid = model.record(one.name, in: one.ownedZone)?.guid ?? ""
        let value = isSpoilt ? String(guid.dropLast()) + "~" : guid
        let isSeen =
            !isSpoilt && model.admitsRequest(of: user, for: one.share, in: one.ownedZone)
        try wire.passTime()
        let (name, ownedZone) = (one.name, one.ownedZone)
        underWay = { if isSeen { $0.ask(name, user: user, in: ownedZone) } }
        let answer = try send(
            user, "public/records/requestAccess", "{\"shortGUIDs\":[{\"value\":\"\(value)\"}]}")
        underWay = nil
        guard answer.text == "{\"results\":[{\"shortGUID\":{\"value\":\"\(value)\"}}]}" else {
            throw SharingFailure("a request for access is told \(answer.text)")
        }
        try wire.finishTelling()
        if isSeen { model.ask(name, user: user, in: ownedZone) }
        note(isSeen ? "access requested" : "access requested in vain")
    }

    /// Somebody opens a link that is good for whoever comes first.
    private func useFirstLink() throws {
        let open = openShares().flatMap { found in
            found.share.participants.filter { $0.user == nil && $0.secretLink != nil }
                .map { (found: found, first: $0) }
        }
        guard let (found, first) = random.any(of: open), let link = first.secretLink else { return }
        let user = random.one(of: users)
        let accepts = random.happens(60)
        let isSpoilt = random.happens(10)
        let value = isSpoilt ? String(link.dropLast(8)) + "AAAAAAAA" : link
        let by = isSpoilt ? nil : first
        let maySee = model.maySee(user, share: found.share, in: found.ownedZone, by: by)
        if maySee {
            known[user].formUnion(
                SharingViews(people: people).invitationSecrets(
                    found.name, in: found.ownedZone, of: model))
        }
        let (name, ownedZone) = (found.name, found.ownedZone)
        underWay = { model in
            if accepts, maySee { model.accept(name, user: user, in: ownedZone, by: by) }
            model.touched.insert(ownedZone)
        }
        let answer = try send(
            user, "public/records/\(accepts ? "accept" : "resolve")",
            "{\"shortGUIDs\":[{\"value\":\"\(value)\",\"shouldFetchRootRecord\":true}]}")
        underWay = nil
        guard maySee else {
            try expect(answer, 404, "NOT_FOUND")
            return note("one-time link refused")
        }
        note(accepts ? "one-time link accepted" : "one-time link resolved")
        try expect(answer, 200, nil)
        if accepts { model.accept(name, user: user, in: ownedZone, by: by) }
        model.touched.insert(ownedZone)
        guard let result = answer["results"].elements.first else {
            throw SharingFailure(answer.text)
        }
        try judge(result, ownedZone, name, user, by: accepts ? nil : by)
    }

    /// Says in the save of a share something of those who ask.
    func addDecisions(
        to change: inout SharingOperation.ShareChange, over share: ModelledSharing.Share?
    ) {
        guard options.hasAsking else { return }
        if random.happens(share?.allowsRequests == true ? 8 : 45) {
            change.allowsRequests = share?.allowsRequests != true
        }
        guard let share else { return }
        if let one = random.any(of: share.asking), random.happens(60) {
            switch random.below(4) {
            case 0: change.deny = [one]
            case 1: change.block = [one]
            default: change.approve = [one]
            }
        }
        if let one = random.any(of: share.blocked), random.happens(40) { change.unblock = [one] }
        let others = users.filter { user in !share.participants.contains { $0.user == user } }
        if let stranger = random.any(of: others), random.happens(4) {
            change.approve.append(stranger)
        }
        let joined = share.participants.filter { $0.status == .accepted }.compactMap(\.user)
        if let one = random.any(of: joined), random.happens(5) { change.block.append(one) }
    }

    /// Entries for whoever comes first.
    func firstEntries() -> [SharingOperation.ShareChange.Entry] {
        guard options.hasAsking, random.happens(35) else { return [] }
        return (0..<random.one(of: [1, 1, 2])).map { _ in
            values += 1
            return Entry(
                handle: .first(values), role: .user,
                permission: random.one(of: [.readOnly, .readWrite]))
        }
    }
}
