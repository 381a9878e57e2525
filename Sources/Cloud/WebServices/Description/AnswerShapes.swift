import CloudModel
import RecordDecoding

/// Objects that several endpoints answer; the others are declared beside their endpoint.
enum AnswerShapes {
    /// One thing of an answer about many: what is said of it, or why it failed.
    static func item(_ name: String, _ keys: [ObjectKey]) -> ObjectShape {
        ObjectShape(name, keys + faultKeys)
    }

    private static let faultKeys: [ObjectKey] = [
        .optional("serverErrorCode", .words(FaultCode.self)), .optional("reason", .text),
        .beyond("detail", .words(FaultDetail.self)), .optional("retryAfter", .integer),
        .optional("redirectURL", .text), .beyond("changeTokenExpired", .flag),
    ]

    /// An answer that is an error as a whole.
    static let fault = ObjectShape(
        "Fault",
        [.required("uuid", .text), .required("serverErrorCode", .words(FaultCode.self))]
            + faultKeys.filter { $0.name != "serverErrorCode" })

    static let record = item(
        "Record",
        [
            // Of a fault as it was asked for, legal or not.
            .optional("recordName", .text), .optional("recordType", .text),
            .optional("fields", .map(.object(field))), .optional("recordChangeTag", .text),
            .optional("created", .object(moment)), .optional("modified", .object(moment)),
            .optional("deleted", .flag), .optional("zoneID", .object(zoneID)),
        ])

    private static let field = ObjectShape(
        "StoredField",
        [
            .optional("value", .anyOf(FieldDecoder.values + [.list(.anyOf(FieldDecoder.values))])),
            .optional("type", .text), .optional("isEncrypted", .flag),
        ])

    private static let moment = ObjectShape(
        "Moment",
        [
            .required("timestamp", .integer), .required("userRecordName", .text),
            .optional("deviceID", .text),
        ])

    static let asset = ObjectShape(
        "StoredAsset",
        [
            .required("fileChecksum", .text), .required("size", .integer),
            .optional("receipt", .text), .optional("downloadURL", .text),
        ])

    static let zoneID = ObjectShape(
        "StoredZoneID",
        [
            .required("zoneName", .text), .optional("ownerRecordName", .text),
            .optional("zoneType", .text),
        ])

    static let zone = item(
        "Zone",
        [
            .required("zoneID", .object(zoneID)), .optional("syncToken", .text),
            .optional("atomic", .flag), .optional("deleted", .flag),
        ])

    static let records = ObjectShape("Records", [.required("records", .list(.object(record)))])

    /// Of a page of a zone's changes.
    static let pageKeys: [ObjectKey] = [
        .required("records", .list(.object(record))), .required("syncToken", .text),
        .required("moreComing", .flag),
    ]
}
