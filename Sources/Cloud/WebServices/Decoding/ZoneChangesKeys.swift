import CloudDatabase
import CloudModel
import RecordDecoding

/// The keys of `changes/zone` that may stand at the top or with a zone.
struct ZoneChangesKeys {
    private var syncToken: String?
    private var resultsLimit: Int
    private var recordTypes: Set<String>?
    private var newestFirst: Bool
    private var rendering: RecordRendering

    init(
        _ object: RequestObject, _ limits: ServiceLimits, over outer: ZoneChangesKeys? = nil
    ) throws(Fault) {
        syncToken = try object.string("syncToken") ?? outer?.syncToken
        resultsLimit =
            try object.resultsLimit(limits) ?? outer?.resultsLimit ?? limits.recordsPerResponseMax
        recordTypes = try object.strings("desiredRecordTypes").map { Set($0) } ?? outer?.recordTypes
        // Each type is looked up for each zone, and no container has more types.
        guard recordTypes?.count ?? 0 <= limits.recordTypesMax else {
            throw .limitExceeded(
                "desiredRecordTypes: more than \(limits.recordTypesMax) given"
            )
        }
        newestFirst = try object.bool("reverse") ?? outer?.newestFirst ?? false
        rendering = try object.rendering(over: outer?.rendering ?? .whole)
    }

    func request(for zone: ZoneID, device: String? = nil) -> ZoneChangesRequest {
        ZoneChangesRequest(
            zone: zone, syncToken: syncToken, resultsLimit: resultsLimit, recordTypes: recordTypes,
            newestFirst: newestFirst, rendering: rendering, device: device)
    }
}

extension ZoneChangesRequest {
    /// Whether the request is for more records, or more record types, than that.
    func isLong(for count: Int) -> Bool {
        resultsLimit > count || (recordTypes?.count ?? 0) > count / 20
    }
}

extension ZoneChangesKeys {
    static let keys: [ObjectKey] =
        [
            .optional("syncToken", .text), .resultsLimit,
            .optional(
                "desiredRecordTypes", .list(.recordType(), most: \ServiceLimits.recordTypesMax)),
            .optional("reverse", .flag),
        ] + ObjectKey.rendering
}
