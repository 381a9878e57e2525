import Accounts
import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `records/resolve` (web-services.md §4.11): what a link leads to.
enum ResolveSharesEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let links = try ShareLinks.decode(context)
        let invitations = try ShareLinks.invitations(links, context)
        return try context.read { snapshot in
            ShareLinks.answer(try invitations.resolve(snapshot))
        }
    }
}

/// `records/accept` (web-services.md §4.11): joins what links lead to.
enum AcceptSharesEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let invitations = try ShareLinks.invitations(ShareLinks.decode(context), context)
        let storage = context.store.storage
        try invitations.accept { result in
            completion(
                result.map {
                    { _ in
                        // What is acknowledged is there to be read.
                        try storage.read {
                            ShareLinks.answer(try invitations.resolve($0))
                        }
                    }
                })
        }
        return .handedOn
    }
}

/// `records/requestAccess` (rulings.md 50): asks to take part in what links lead to, and tells nothing.
enum RequestAccessEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let links = try ShareLinks.decode(context)
        let requests = try RequestAccess(links.map(\.value), in: context.database())
        requests.run { result in
            completion(
                result.map {
                    { _ in
                        var writer = JSONWriter(reserving: links.count * 64)
                        for (index, link) in links.enumerated() {
                            writer.raw(index == 0 ? "{\"shortGUID\":" : ",{\"shortGUID\":")
                            writer.raw(link.text)
                            writer.raw("}")
                        }
                        return ShareLinks.answer(writer.bytes)
                    }
                })
        }
        return .handedOn
    }
}

/// What the endpoints take and give.
private enum ShareLinks {
    static func decode(_ context: RequestContext) throws(Fault) -> [ShareInvitations.Link] {
        var links: [ShareInvitations.Link] = []
        for element in try context.body().items("shortGUIDs", context.limits) {
            let object = try RequestObject(element, key: "shortGUIDs")
            let value = try object.requiredString("value")
            let keys = try object.strings("rootRecordDesiredKeys")
            let isWanted = try object.bool("shouldFetchRootRecord") ?? false
            links.append(
                ShareInvitations.Link(
                    value: value, text: element.withRawBytes { [UInt8]($0) },
                    root: isWanted ? RecordRendering(desiredKeys: keys.map { Set($0) }) : nil))
        }
        return links
    }

    static func invitations(
        _ links: [ShareInvitations.Link], _ context: RequestContext
    ) throws -> ShareInvitations {
        let named = context.address.container
        let container = try context.catalog.container(named)
        return try ShareInvitations(
            links, in: context.database(),
            at: ShareInvitations.ContainerDetails(
                container: container?.id ?? named,
                fallbackURL: container?.settings[ContainerSetting.fallbackURL.rawValue]))
    }

    static func answer(_ results: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: results.count + 16)
        writer.raw("{\"results\":[")
        writer.raw(results)
        writer.raw("]}")
        return writer.bytes
    }
}

extension ResolveSharesEndpoint {
    /// What the three endpoints take.
    static let takes = ObjectShape(
        "ShareLinksRequest",
        [
            .items(
                "shortGUIDs",
                .object(
                    ObjectShape(
                        "ShortGUID",
                        [
                            .required("value", .text(examples: ["0123456789abcdefghijkl"])),
                            .optional("shouldFetchRootRecord", .flag),
                            .optional("rootRecordDesiredKeys", .list(.text)),
                        ])))
        ])

    static let answers = ObjectShape(
        "ShareLinks", [.required("results", .list(.object(AnswerShapes.item("ShareLink", []))))])
}
