import CloudModel
import JSON
import RecordDecoding
import Storage

/// `users/caller` and `users/current` (web-services.md §4.12, rulings.md 40).
enum CallerEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        guard let name = context.caller.userRecordName else {
            throw Fault(.authenticationFailed, "Authentication failed")
        }
        let account = try context.caller.account.flatMap { try context.catalog.account($0) }
        var writer = JSONWriter(reserving: 320)
        writer.raw("{\"userRecordName\":")
        writer.string(name.text)
        writer.raw(",\"nameComponents\":{")
        if let given = account?.givenName {
            writer.raw("\"givenName\":")
            writer.string(given)
        }
        if let family = account?.familyName {
            writer.raw(account?.givenName == nil ? "\"familyName\":" : ",\"familyName\":")
            writer.string(family)
        }
        writer.raw("},\"lookupInfo\":{\"userRecordName\":")
        writer.string(name.text)
        writer.raw("}")
        if let given = account?.givenName {
            writer.member("firstName", given)
        }
        if let family = account?.familyName {
            writer.member("lastName", family)
        }
        writer.raw("}")
        return writer.bytes
    }
}

extension CallerEndpoint {
    static let answers = ObjectShape(
        "Caller",
        [
            .required("userRecordName", .userRecordName),
            .required("nameComponents", .object(names)),
            .required("lookupInfo", .map(.text)), .optional("firstName", .text),
            .optional("lastName", .text),
        ])

    static let names = ObjectShape(
        "NameComponents", [.optional("givenName", .text), .optional("familyName", .text)])
}
