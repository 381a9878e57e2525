@preconcurrency import CloudKit
import CoreLocation

// Code as apps of the newer language mode have it, with strict concurrency.

/// An app with a sync engine.
actor NotesApp: CKSyncEngineDelegate {
    static let zone = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
    private let database: CKDatabase
    private var engine: CKSyncEngine?
    private(set) var state: CKSyncEngine.State.Serialization?
    private var texts: [String: String] = [:]

    init(_ container: CKContainer) { database = container.database(with: .private) }

    func start() -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: state, delegate: self)
        configuration.automaticallySync = false
        configuration.subscriptionID = "notes"
        let engine = CKSyncEngine(configuration)
        self.engine = engine
        return engine
    }

    func write(_ name: String, _ text: String) {
        texts[name] = text
        engine?.state.add(pendingRecordZoneChanges: [
            .saveRecord(CKRecord.ID(recordName: name, zoneID: Self.zone))
        ])
        engine?.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zone))])
        engine?.state.remove(pendingDatabaseChanges: [.deleteZone(Self.zone)])
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let event): state = event.stateSerialization
        case .accountChange(let event): handle(event)
        case .fetchedDatabaseChanges(let event):
            for deletion in event.deletions where deletion.reason == .deleted {
                texts = deletion.zoneID == Self.zone ? [:] : texts
            }
        case .fetchedRecordZoneChanges(let event):
            for modification in event.modifications {
                let record = modification.record
                texts[record.recordID.recordName] = record["text"] as? String
            }
            for deletion in event.deletions { texts[deletion.recordID.recordName] = nil }
        case .sentRecordZoneChanges(let event): handle(event, syncEngine)
        case .sentDatabaseChanges, .willFetchChanges, .willFetchRecordZoneChanges,
            .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
            break
        @unknown default: break
        }
    }

    private func handle(_ event: CKSyncEngine.Event.AccountChange) {
        switch event.changeType {
        case .signIn: break
        case .switchAccounts, .signOut: texts = [:]
        @unknown default: break
        }
    }

    private func handle(
        _ event: CKSyncEngine.Event.SentRecordZoneChanges, _ syncEngine: CKSyncEngine
    ) {
        var waiting: [CKSyncEngine.PendingRecordZoneChange] = []
        for failed in event.failedRecordSaves {
            switch failed.error.code {
            case .serverRecordChanged:
                guard failed.error.serverRecord != nil else { continue }
                waiting.append(.saveRecord(failed.record.recordID))
            case .zoneNotFound, .unknownItem:
                waiting.append(.saveRecord(failed.record.recordID))
            case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable,
                .notAuthenticated, .operationCancelled:
                break
            default: break
            }
        }
        syncEngine.state.add(pendingRecordZoneChanges: waiting)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let scope = context.options.scope
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
        let texts = texts
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            guard let text = texts[id.recordName] else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            let record = CKRecord(recordType: "Note", recordID: id)
            record["text"] = text
            return record
        }
    }
}

/// Sixty ways to write and read fields.
enum FieldForms {
    static func fill(_ record: CKRecord) {
        let optional: String? = nil
        record["string"] = "Tea"
        record["none"] = optional
        record["cleared"] = nil
        record["int"] = 1
        record["int8"] = Int8(1)
        record["int16"] = Int16(1)
        record["int32"] = Int32(1)
        record["int64"] = Int64(1)
        record["uint"] = UInt(1)
        record["uint8"] = UInt8(1)
        record["uint16"] = UInt16(1)
        record["uint32"] = UInt32(1)
        record["uint64"] = UInt64(1)
        record["double"] = 0.5
        record["float"] = Float(0.5)
        record["bool"] = true
        record["date"] = Date(timeIntervalSince1970: 1)
        record["data"] = Data([1])
        record["strings"] = ["a", "b"]
        record["ints"] = [1, 2]
        record["doubles"] = [0.5, 2]
        record["dates"] = [Date(timeIntervalSince1970: 1)]
        record["datas"] = [Data([1])]
        record["nsstring"] = "Tea" as NSString
        record["nsnumber"] = NSNumber(value: 2.0)
        record["nsdate"] = Date(timeIntervalSince1970: 1) as NSDate
        record["nsdata"] = Data([1]) as NSData
        record["nsarray"] = ["a"] as NSArray
        record["value"] = "Tea" as CKRecordValue
        record["protocol"] = "Tea" as any CKRecordValueProtocol
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["places"] = [CLLocation(latitude: 1, longitude: 2)]
        record["link"] = CKRecord.Reference(record: record, action: .deleteSelf)
        record["links"] = [CKRecord.Reference(recordID: record.recordID, action: .none)]
        record.setObject("Tea" as NSString, forKey: "object")
        record.setObject(nil, forKey: "object")
        record.encryptedValues["secret"] = "x"
        record.encryptedValues["secretDate"] = Date(timeIntervalSince1970: 1)
        record.encryptedValues["secretNumbers"] = [1, 2]
    }

    static func read(_ record: CKRecord) -> [Any?] {
        let string: String? = record["string"]
        let int: Int? = record["int"]
        let date: Date? = record["date"]
        let strings: [String]? = record["strings"]
        let link: CKRecord.Reference? = record["link"]
        let secret: String? = record.encryptedValues["secret"]
        return [
            string, int, date, strings, link, secret, record["string"] as? String,
            record["string"] as? NSString, record["int"] as? Int, record["int"] as? Int64,
            record["int"] as? Double, record["int"] as? NSNumber, record["bool"] as? Bool,
            record["double"] as? Double, record["float"] as? Float, record["data"] as? Data,
            record["date"] as? NSDate, record["strings"] as? [String], record["ints"] as? [Int],
            record["doubles"] as? [Double], record["dates"] as? [Date],
            record["place"] as? CLLocation, record["links"] as? [CKRecord.Reference],
            record["nsnumber"] as? Double, record.object(forKey: "string"),
            record.encryptedValues["secretDate"] as? Date,
        ]
    }
}

/// What a library gives Swift values and an app gives objects under one name.
protocol Described {}

extension Described {
    var described: String { "\(self)" }
}

extension Int64: Described {}
extension String: Described {}
extension Data: Described {}

extension __CKRecordObjCValue {
    var described: String {
        if let value = self as? Int64 { return value.described }
        if let value = self as? String { return value.described }
        if let value = self as? Data { return value.described }
        return "?"
    }
}
