import CloudKitStore
import Foundation

/// What a long-lived operation was asked, so that a later run of the program can make it anew.
///
/// Operations that save, delete or fetch records and zones by their names can outlive a program.
struct LongLivedInput {
    enum Kind: String {
        case modifyRecords
        case fetchRecords
        case modifyZones
    }

    let kind: Kind
    let database: CKDatabase
    /// Objects of this library, by their names here.
    let objects: [String: [NSObject & NSSecureCoding]]
    let numbers: [String: Int]

    init?(
        _ kind: Kind, _ database: CKDatabase?, objects: [String: [NSObject & NSSecureCoding]],
        numbers: [String: Int] = [:]
    ) {
        guard let database else { return nil }
        self.kind = kind
        self.database = database
        self.objects = objects
        self.numbers = numbers
    }

    func stored(as id: CKOperation.ID) -> StoredOperations.Stored {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        for (name, list) in objects { archiver.encode(list as NSArray, forKey: name) }
        for (name, number) in numbers { archiver.encode(number, forKey: name) }
        return StoredOperations.Stored(
            id: id, container: database.access.container, kind: kind.rawValue,
            scope: database.databaseScope.rawValue, input: [UInt8](archiver.encodedData))
    }

    /// - Returns: nil for what another version of this library has kept.
    static func operation(
        _ stored: StoredOperations.Stored, in container: CKContainer
    ) -> CKDatabaseOperation? {
        guard let kind = Kind(rawValue: stored.kind),
            let scope = CKDatabase.Scope(rawValue: stored.scope),
            let archive = try? NSKeyedUnarchiver(forReadingFrom: Data(stored.input))
        else { return nil }
        let operation = operation(kind, archive)
        operation.operationID = stored.id
        operation.database = container.database(with: scope)
        operation.configuration.isLongLived = true
        return operation
    }

    private static func operation(
        _ kind: Kind, _ archive: NSKeyedUnarchiver
    ) -> CKDatabaseOperation {
        func list<Object: NSObject & NSCoding>(_ type: Object.Type, _ name: String) -> [Object] {
            guard archive.containsValue(forKey: name) else { return [] }
            let found = archive.decodeObject(
                of: [NSArray.self, Object.self, CKShare.self], forKey: name)
            return found as? [Object] ?? []
        }
        switch kind {
        case .modifyRecords:
            let operation = CKModifyRecordsOperation(
                recordsToSave: list(CKRecord.self, "records"),
                recordIDsToDelete: list(CKRecord.ID.self, "ids"))
            operation.savePolicy =
                .init(rawValue: archive.decodeInteger(forKey: "policy"))
                ?? .ifServerRecordUnchanged
            operation.isAtomic = archive.decodeInteger(forKey: "atomic") == 1
            return operation
        case .fetchRecords:
            return CKFetchRecordsOperation(recordIDs: list(CKRecord.ID.self, "ids"))
        case .modifyZones:
            return CKModifyRecordZonesOperation(
                recordZonesToSave: list(CKRecordZone.self, "zones"),
                recordZoneIDsToDelete: list(CKRecordZone.ID.self, "ids"))
        }
    }
}

extension CKContainer {
    /// Long-lived operations that have not told their end yet, of this and former runs of the program.
    ///
    /// - Throws: `CKError` when this device's store cannot be read.
    public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
        do {
            return try StoredOperations(DeviceStore.store())
                .ids(of: containerIdentifier ?? "", now: Date())
        } catch {
            throw CKError(error)
        }
    }

    /// A long-lived operation of a former run, to be given its callbacks and added again.
    ///
    /// It makes all its callbacks anew: what the server has answered already is not asked for again.
    ///
    /// - Returns: nil when it has told its end, was cancelled, or is older than a day.
    /// - Throws: `CKError` when this device's store cannot be read.
    public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
        do {
            let operations = try StoredOperations(DeviceStore.store())
            guard let stored = try operations.operation(operationID),
                stored.container == containerIdentifier
            else { return nil }
            return LongLivedInput.operation(stored, in: self)
        } catch {
            throw CKError(error)
        }
    }
}
