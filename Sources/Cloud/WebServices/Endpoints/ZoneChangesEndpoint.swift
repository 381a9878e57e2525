import CloudDatabase
import CloudModel
import Cryptography
import JSON
import RecordDecoding
import Storage

/// `changes/zone` (web-services.md §4.6): one page of each of the zones asked for.
enum ZoneChangesEndpoint {
    static func answer(_ context: RequestContext) throws -> NextStep {
        let database = try context.database()
        let body = try context.body()
        let (asked, count) = try body.countedItems("zones", context.limits)
        guard !context.holdsUp(items: count) else { return .again(on: .short) }
        let defaults = try ZoneChangesKeys(body, context.limits)
        let servesPublic = try database.scope == .public && context.servesPublicChanges()
        return try context.read(isOfFeed: true) { snapshot in
            let feed = try FetchZoneChanges(
                database, key: context.store.tokenKey, snapshot: snapshot,
                servesPublic: servesPublic)
            var writer = JSONWriter(reserving: 16_384)
            var budget = context.budget
            var pages = HeldPages(waitSeconds: try body.waitSeconds(context.limits))
            pages.work.items = count
            writer.raw("{\"zones\":[")
            for (index, element) in asked.enumerated() {
                if index > 0 { writer.raw(",") }
                let object = try RequestObject(element, key: "zones")
                let request = try ZoneChangesKeys(object, context.limits, over: defaults)
                guard try append(object, request, feed, context, &writer, &budget, &pages) else {
                    return .again(on: .short)
                }
            }
            writer.raw("]}")
            context.exchange.keep(pages.work)
            return pages.admitted(writer.bytes, context.limits)
        }
    }

    /// - Returns: false on an event loop, when the page is long.
    private static func append(
        _ object: RequestObject, _ keys: ZoneChangesKeys, _ feed: FetchZoneChanges,
        _ context: RequestContext, _ writer: inout JSONWriter, _ budget: inout PageBudget,
        _ pages: inout HeldPages
    ) throws -> Bool {
        guard let zone = object["zoneID"] else { throw RequestObject.missing("zoneID") }
        let spelling = try ZoneReader.spelling(RequestObject(zone, key: "zoneID"))
        let start = writer.bytes.count
        do {
            let id = try context.zones.zone(spelling)
            let request = keys.request(for: id, device: context.device)
            if context.loop != nil, request.isLong(for: RequestContext.loopRecordsMax) {
                return false
            }
            writer.raw("{\"zoneID\":")
            feed.appendZoneID(of: id, to: &writer)
            writer.raw(",\"records\":[")
            let start = writer.bytes.count
            let page = try feed.append(request, to: &writer, budget: &budget)
            let hasNews =
                writer.bytes.count > start || page.moreComing || request.syncToken?.isEmpty ?? true
            pages.note(page, of: id, hasNews: hasNews)
            if pages.mayWait { pages.wait(for: try feed.watchedParts(of: id)) }
            if context.loop != nil, budget.isExhausted { return false }
            writer.raw("],\"syncToken\":\"")
            writer.bytes.append(contentsOf: page.syncToken.utf8)
            writer.raw(page.moreComing ? "\",\"moreComing\":true" : "\",\"moreComing\":false")
            if let data = page.clientToken {
                writer.member("clientChangeTokenData", Base64.encode(data))
            }
            writer.raw("}")
        } catch let fault as Fault {
            writer.bytes.removeLast(writer.bytes.count - start)
            FaultResponse.append(zone: spelling, fault, to: &writer)
            // NB: what names no zone has no line of its own.
            pages.note(fault, of: try? context.zones.zone(spelling))
        }
        return true
    }
}

/// Tells whether an answer would show nothing, or only that more is to come.
struct HeldPages {
    /// How long the request wants to wait for news; nil for not at all.
    let waitSeconds: Int?
    private var awaited: Set<StorePart> = []
    private var otherCount = 0
    private var parts: Set<StorePart> = []
    private var hasNews = false
    /// What the line of the request keeps of them.
    var work = RequestWork()

    init(waitSeconds: Int?) { self.waitSeconds = waitSeconds }

    mutating func note(_ page: ZoneChangesPage, of zone: ZoneID, hasNews: Bool) {
        work.note(ZoneProgress(page, of: zone))
        work.records += page.records
        if let zone = page.awaited { awaited.insert(.zone(zone)) } else { otherCount += 1 }
        if hasNews { self.hasNews = true }
    }

    /// Whether the request wants to wait, and no page so far has something new.
    var mayWait: Bool { waitSeconds != nil && !hasNews }

    /// Adds places that move when there may be something new.
    mutating func wait(for parts: Set<StorePart>) { self.parts.formUnion(parts) }

    /// - Parameter zone: nil for what is no zone.
    mutating func note(_ fault: Fault, of zone: ZoneID?) {
        if let zone { work.note(ZoneProgress(zone)) }
        work.note(fault)
        otherCount += 1
        hasNews = true
    }

    /// What comes next when they are made: some had better wait.
    func admitted(_ body: [UInt8], _ limits: ServiceLimits) -> NextStep {
        guard awaited.isEmpty || otherCount > 0 else {
            return .wait(
                EarlyAnswer(
                    parts: awaited, outcome: .success(body),
                    millisecondsMax: limits.sharedPageHoldMilliseconds))
        }
        guard let waitSeconds, !hasNews, !parts.isEmpty else { return .answer(body) }
        return .wait(
            EarlyAnswer(
                parts: parts, outcome: .success(body), millisecondsMax: waitSeconds * 1_000))
    }
}

extension ZoneProgress {
    init(_ page: ZoneChangesPage, of zone: ZoneID) {
        self.init(zone, from: page.from, to: page.to, moreComing: page.moreComing)
    }
}

extension ZoneChangesEndpoint {
    static let takes = ObjectShape(
        "ZoneChangesRequest",
        [
            .items(
                "zones",
                .object(
                    ObjectShape(
                        "ZoneToFollow",
                        [.required("zoneID", .object(ZoneReader.shape))] + ZoneChangesKeys.keys))),
            .waitSeconds,
        ] + ZoneChangesKeys.keys)

    static let answers = ObjectShape(
        "ZoneChanges",
        [
            .required(
                "zones",
                .list(
                    .object(
                        AnswerShapes.item(
                            "ZonePage",
                            [
                                .required("zoneID", .object(AnswerShapes.zoneID)),
                                .optional("records", .list(.object(AnswerShapes.record))),
                                .optional("syncToken", .text), .optional("moreComing", .flag),
                                .optional("clientChangeTokenData", .base64()),
                            ]))))
        ])
}
