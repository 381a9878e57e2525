import CloudModel
import Storage

/// References: what a save links to (rulings.md 18).
struct ReferenceRule {
    let context: BatchContext
    let view: BatchView

    /// The links of a save, from its references and its parent.
    func links(
        _ references: [FieldReference], parent: RecordName?, of name: RecordName,
        _ previous: CurrentRecord?
    ) throws -> [Link] {
        guard !references.isEmpty || parent != nil else { return [] }
        var links: [Link] = []
        var seen: Set<Link> = []
        let participants = ParticipantRule(context)
        if let parent {
            guard parent != name else {
                throw Fault.badRequest("parent: a record cannot be its own parent")
            }
            guard !parent.isReserved else { throw Self.missing(parent) }
            links.append(Link(targetZone: context.zone.number, target: parent, kind: .parent))
        }
        for reference in try acting(references) {
            var kind: LinkKind = reference.action == .deleteSelf ? .deleteSelf : .validate
            // The record of a user goes with the account, so nothing may rely on it.
            guard kind != .validate || !reference.name.isReserved else {
                throw Self.missing(reference.name)
            }
            guard let number = try number(of: reference.zone),
                try participants.mayReach(reference.name, in: number, kind, from: previous)
            else {
                guard kind == .validate else { continue }
                throw Self.missing(reference.name)
            }
            if try kind == .deleteSelf
                && participants.actsInTree(reference.name, in: number, from: previous)
            {
                kind = .deleteSelfInTree
            }
            let link = Link(targetZone: number, target: reference.name, kind: kind)
            // A list may name one target thousands of times; it counts once.
            if seen.insert(link).inserted { links.append(link) }
        }
        try checkSourceCounts(links, of: name, previous)
        return links
    }

    /// The references that act; a target that a list names thousands of times counts once.
    private func acting(_ references: [FieldReference]) throws(Fault) -> [FieldReference] {
        var acting: [FieldReference] = []
        var seen: Set<FieldReference> = []
        let most = context.limits.referencesPerRecordMax
        for reference in references where reference.action != .none {
            guard seen.insert(reference).inserted else { continue }
            guard acting.count < most else {
                throw .limitExceeded(
                    "more than \(most) DELETE_SELF and VALIDATE references in one record")
            }
            acting.append(reference)
        }
        return acting
    }

    private func number(of id: ZoneID?) throws -> ZoneNumber? {
        guard let id, id.name != context.zone.name else { return context.zone.number }
        return try context.zone(named: id.name)
    }

    /// Refuses a reference when so many records refer to its target that no one deletion could take them all.
    private func checkSourceCounts(
        _ links: [Link], of name: RecordName, _ previous: CurrentRecord?
    ) throws {
        let most = context.limits.deleteSelfSourcesMax
        for link in links where LinkKind.going.contains(link.kind) {
            // Participants' references are counted separately, so that the count tells them nothing of the
            // owner's.
            let hold = HoldRule(context: context, view: view, target: link.targetKey)
            guard try !hold.reaches(most, link.kind, without: context.key(name)) else {
                throw Fault.limitExceeded(
                    "more than \(most) DELETE_SELF references to record '\(link.target.text)' "
                        + "(limits.deleteSelfSourcesMax)")
            }
        }
    }

    static func missing(_ name: RecordName) -> Fault {
        Fault(
            .validatingReferenceError,
            "the record that a VALIDATE reference or parent names does not exist: '\(name.text)'")
    }
}
