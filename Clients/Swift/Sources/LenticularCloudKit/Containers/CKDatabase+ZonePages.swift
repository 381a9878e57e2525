import CloudKitWire
import Foundation

// Pages of a zone's feed.
extension CKDatabase {
    /// A page of a zone's feed, in its order.
    struct ZonePage: Sendable {
        var records: [CKRecord] = []
        var deletions: [RecordZoneChange.Deletion] = []
        let token: CKServerChangeToken
        let moreComing: Bool
        /// What this device has left for itself with its last change that the feed holds.
        var clientData: Data?
    }

    /// The page after a token.
    ///
    /// The one after it is asked for at once, and comes while the app deals with this one, unless the app says
    /// how large pages are to be.
    ///
    /// - Throws: `CKError`.
    func zonePage(
        of zoneID: CKRecordZone.ID, since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]?, resultsLimit: Int?
    ) async throws -> ZonePage {
        let pageKey = PagesAhead.PageKey(
            scope: databaseScope, zone: zoneID, token: token?.text, keys: desiredKeys,
            limit: resultsLimit, account: await connection.accountGeneration)
        // Long-lived operations keep each answer in its order.
        if settings.journal == nil, let zone = await access.pagesAhead.take(pageKey),
            WireFault(zone) == nil
        {
            // What is the last page may have been so when it was asked for, and not when the app asked.
            return try await page(zone, pageKey, isLast: false)
        }
        let zone = try await zoneAnswer(pageKey)
        if let fault = WireFault(zone) { throw CKError(fault, of: .zone) }
        return try await page(zone, pageKey, isLast: zone["moreComing"]?.bool != true)
    }

    private func zoneAnswer(_ pageKey: PagesAhead.PageKey) async throws -> JSONView {
        let answer = try await call("changes/zone") { json in
            json.key("zones")
            json.array { json in
                json.object { json in
                    json.zone(pageKey.zone)
                    if let token = pageKey.token { json.member("syncToken", token) }
                    json.desiredKeys(pageKey.keys)
                    json.resultsLimit(pageKey.limit)
                }
            }
        }
        guard let zone = answer["zones"]?.elements.first(where: { _ in true }) else {
            throw CKError(.internalError, "the answer lacks the zone")
        }
        return zone
    }

    private func page(
        _ zone: JSONView, _ pageKey: PagesAhead.PageKey, isLast: Bool
    ) async throws -> ZonePage {
        guard let next = zone["syncToken"]?.string else {
            throw CKError(.internalError, "the answer lacks its token")
        }
        if zone["moreComing"]?.bool == true, pageKey.limit == nil, settings.journal == nil {
            let following = pageKey.following(next)
            await access.pagesAhead.begin(following) { try await self.zoneAnswer(following) }
        }
        let reader = try await reader()
        var page = ZonePage(
            token: CKServerChangeToken(next), moreComing: !isLast,
            clientData: zone["clientChangeTokenData"]?.string.flatMap {
                Data(base64Encoded: $0)
            })
        for item in zone["records"]?.elements ?? zone.elements {
            reader.note(item, in: pageKey.zone, &page)
        }
        return page
    }
}

extension AnswerReader {
    fileprivate func note(
        _ item: JSONView, in zone: CKRecordZone.ID, _ page: inout CKDatabase.ZonePage
    ) {
        guard let name = item["recordName"]?.string else { return }
        let id = CKRecord.ID(recordName: name, zoneID: zone)
        if item["deleted"]?.bool == true {
            page.deletions.append(
                CKDatabase.RecordZoneChange.Deletion(
                    recordID: id, recordType: item["deletedRecordType"]?.string ?? ""))
        } else if let record = record(item, as: id) {
            page.records.append(record)
        }
    }
}

/// The next page of a feed, which is under way while the app deals with the last one.
///
/// One page at a time: who follows several feeds in turn gains nothing, and loses nothing but that page.
actor PagesAhead {
    /// What a page follows, and how it is asked for.
    struct PageKey: Hashable {
        let scope: CKDatabase.Scope
        let zone: CKRecordZone.ID
        var token: String?
        let keys: [CKRecord.FieldKey]?
        let limit: Int?
        /// The account that asks: a page is for nobody else.
        let account: Int

        func following(_ token: String) -> PageKey {
            var pageKey = self
            pageKey.token = token
            return pageKey
        }
    }

    private var ahead: (pageKey: PageKey, page: Task<JSONView, any Error>)?

    func begin(_ pageKey: PageKey, _ page: @escaping @Sendable () async throws -> JSONView) {
        ahead?.page.cancel()
        ahead = (pageKey, Task { try await page() })
    }

    /// - Returns: nil when another page is under way, or when it has failed: it is then asked for anew.
    func take(_ pageKey: PageKey) async -> JSONView? {
        guard let found = ahead, found.pageKey == pageKey else { return nil }
        ahead = nil
        return await withTaskCancellationHandler {
            try? await found.page.value
        } onCancel: {
            found.page.cancel()
        }
    }
}
