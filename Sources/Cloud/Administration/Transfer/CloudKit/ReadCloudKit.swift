import CloudDatabase
import CloudModel
import Cryptography
import JSON

/// Reads a database of CloudKit into a file that has the form of an export, page by page.
///
/// Each page is on disk before the next is asked for, and one that was cut short goes on there.
final class ReadCloudKit {
    private static let pageRecords = 200
    /// How often a page without records may name itself as the next.
    private static let emptyPagesMax = 20
    /// How often a step is begun anew because its marker is no longer known.
    private static let beginningsMax = 3

    /// What is wanted of the database.
    struct Selection {
        /// What there is, as `cktool export-schema` tells it; Web Services tell of no schema.
        var schema: Schema?
        var type: String?
        var zone: String?
        var withAssets = true
        /// Whether types that cannot be read are left out, instead of nothing being read.
        var skipsUnreadable = false
    }

    private let source: CloudKitSource
    private let selection: Selection
    private let files: any TransferFiles
    private let requests: CloudKitRequests
    private let assets: CloudKitAssets
    private var progress: CloudKitProgress
    private var beginnings = 0
    private var emptyPages = 0
    private(set) var isContinued = false

    /// - Throws: `RecordsRefusal` when the file is something else's.
    init(
        _ source: CloudKitSource, _ selection: Selection, _ requests: CloudKitRequests,
        to files: any TransferFiles
    ) throws {
        (self.source, self.selection, self.requests) = (source, selection, requests)
        self.files = files
        assets = CloudKitAssets(requests, files)
        let about = [
            source.host, source.container, source.environment, source.scope.rawValue,
            selection.type ?? "", selection.zone ?? "", "\(selection.withAssets)",
        ].joined(separator: " ")
        let given = Hexadecimal.encode(SHA256.digest(Array(requests.webToken.utf8)))
        if let earlier = try CloudKitProgress.read(about: about, from: files) {
            progress = earlier
            isContinued = true
            if given == earlier.givenToken, !earlier.webToken.isEmpty {
                requests.use(webToken: earlier.webToken)
            }
        } else {
            guard try files.size(of: .main) ?? 0 == 0 else {
                throw RecordsRefusal(
                    "the file is there, and no import from CloudKit has begun it; name another")
            }
            progress = CloudKitProgress(about: about)
        }
        progress.givenToken = given
        progress.webToken = requests.webToken
    }

    /// Reads all that is not read yet.
    ///
    /// - Returns: notes about what is not in the file.
    /// - Throws: `RecordsRefusal`, `TransferAbandoned`.
    func finish() throws -> [String] {
        guard !progress.isWhole else { return notes }
        requests.tokenChanged = { [unowned self] in try keepToken() }
        do {
            if progress.steps.isEmpty { try begin() }
            guard try files.size(of: .main) ?? 0 >= progress.offset else {
                throw RecordsRefusal("the file is shorter than it was; begin with another")
            }
            while progress.done < progress.steps.count { try readPage() }
        } catch let refusal as CloudKitRefusal {
            throw self.refusal(refusal)
        }
        progress.isWhole = true
        try keep([])
        return notes
    }

    private var notes: [String] {
        let shares =
            progress.shares == 0
            ? []
            : ["\(progress.shares) shares are not taken over: their owners share again from here"]
        return progress.notes + shares
    }

    private func refusal(_ refusal: CloudKitRefusal) -> RecordsRefusal {
        guard refusal.isOfCredential else { return RecordsRefusal("\(source.host): \(refusal)") }
        switch source.credential {
        case .serverKey:
            return RecordsRefusal(
                "\(source.host) does not accept the key for this container and environment, or a "
                    + "clock is wrong (\(refusal))")
        case .webToken:
            return RecordsRefusal(
                "\(source.host) does not accept the web token any more (\(refusal)); sign in there "
                    + "again, and run the same command with the new token to go on")
        }
    }

    private func keepToken() throws {
        progress.webToken = requests.webToken
        try progress.write(to: files)
    }

    /// Adds lines to the file, and notes how far it has come.
    private func keep(_ lines: [UInt8]) throws {
        if !lines.isEmpty {
            try files.write(.main, at: progress.offset, lines)
            progress.offset += Int64(lines.count)
        }
        try files.finish(.main, size: progress.offset)
        progress.assets = assets.count
        try progress.write(to: files)
    }

    // MARK: - What there is to read

    private func begin() throws {
        // From now on the file is known to be ours.
        try progress.write(to: files)
        let plan = CloudKitPlan(source, selection, requests)
        do {
            progress.steps = try plan.steps()
        } catch {
            try CloudKitProgress.remove(from: files)
            throw error
        }
        progress.notes = plan.notes
        var lines = CloudKitLine.beginning(source)
        if let schema = selection.schema { lines += TransferLine.schema(schema) }
        try keep(lines)
    }

    // MARK: - Pages

    private func readPage() throws {
        guard files.tell("reading: \(progress.offset / 1_024) KiB") else {
            throw TransferAbandoned()
        }
        let page: CloudKitPage
        do {
            page = try CloudKitPage(
                progress.steps[progress.done], after: progress.marker,
                limit: Self.pageRecords, from: requests)
        } catch let refusal as CloudKitRefusal {
            return try goOn(after: refusal)
        }
        var lines: [UInt8] = []
        for item in page.items { try append(item, page.zone, to: &lines) }
        if page.items.isEmpty, page.next == progress.marker {
            emptyPages += 1
            guard emptyPages < Self.emptyPagesMax else {
                throw RecordsRefusal("\(source.host): the same empty page again and again")
            }
            try requests.pause(after: emptyPages, nil, because: "an empty page")
        } else {
            emptyPages = 0
        }
        if let next = page.next {
            progress.marker = next
        } else {
            progress.done += 1
            progress.marker = ""
            beginnings = 0
        }
        try keep(lines)
    }

    /// Begins a step anew whose marker is not known any more, or leaves out a zone that has gone.
    private func goOn(after refusal: CloudKitRefusal) throws {
        if refusal.code == "ZONE_NOT_FOUND", case .zone(let name) = progress.steps[progress.done] {
            progress.notes.append("the zone '\(Fault.shown(name))' was deleted meanwhile")
            progress.done += 1
            progress.marker = ""
            return try keep([])
        }
        guard refusal.code == "BAD_REQUEST", !progress.marker.isEmpty,
            beginnings < Self.beginningsMax
        else { throw refusal }
        // A record that comes again replaces its earlier line.
        beginnings += 1
        progress.marker = ""
        try keep([])
    }

    private func append(_ item: JSONValue, _ zone: String, to lines: inout [UInt8]) throws {
        let name = item["recordName"]?.string ?? ""
        if item["serverErrorCode"]?.string != nil {
            var writer = JSONWriter()
            writer.compact(item)
            lines += writer.bytes + [UInt8(ascii: "\n")]
        } else if item["deleted"]?.bool == true {
            lines += CloudKitLine.gone(name, in: zone)
        } else if item["recordType"]?.string == RecordTypeName.share.text {
            progress.shares += 1
        } else if selection.type == nil || item["recordType"]?.string == selection.type {
            lines += try CloudKitLine.record(item, in: zone) { field, value, writer in
                guard selection.withAssets else { return writer.compact(value) }
                try assets.append(value, to: &writer) {
                    try lookUp(name, in: zone, field, value["fileChecksum"]?.string)
                }
            }
        }
    }

    /// An asset of a record as it is now, with an address that is fresh.
    private func lookUp(
        _ record: String, in zone: String, _ field: String, _ checksum: String?
    ) throws -> JSONValue? {
        var writer = JSONWriter()
        writer.raw("{\"records\":[{\"recordName\":")
        writer.string(record)
        writer.raw("}],\"zoneID\":{\"zoneName\":")
        writer.string(zone)
        writer.raw("}}")
        let answer = try requests.answer(to: "records/lookup", writer.bytes)
        for found in answer["records"]?.elements ?? answer.elements {
            guard let value = found["fields"]?.member(field)?["value"] else { continue }
            let values = value.kind == .array ? Array(value.elements) : [value]
            if let same = values.first(where: { $0["fileChecksum"]?.string == checksum }) {
                return same
            }
        }
        return nil
    }
}
