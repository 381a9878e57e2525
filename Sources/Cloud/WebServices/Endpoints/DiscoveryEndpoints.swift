import Accounts
import CloudModel
import JSON
import RecordDecoding
import Storage

/// `users/discover` (web-services.md §4.12): who lets themselves be found by an address.
enum DiscoverUsersEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let directory = try Directory(context)
        var list = JSONList("users")
        guard let infos = try directory.items("lookupInfos") else { return list.finished }
        try directory.charge(
            infos.count { $0["emailAddress"] != nil || $0["phoneNumber"] != nil })
        for element in infos {
            let info = try RequestObject(element, key: "lookupInfos")
            let found = try directory.person(info)
            list.append { writer in
                writer.raw("{")
                if let found {
                    writer.raw("\"userRecordName\":")
                    writer.string(found.userRecordName.text)
                    writer.raw(",\"nameComponents\":{")
                    var isFirst = true
                    for (key, name) in [
                        ("givenName", found.givenName), ("familyName", found.familyName),
                    ] as [(StaticString, String?)] {
                        guard let name else { continue }
                        writer.separate(&isFirst)
                        writer.append(key, name)
                    }
                    writer.raw("},")
                }
                writer.raw("\"lookupInfo\":")
                element.withRawBytes { writer.raw($0) }
                writer.raw("}")
            }
        }
        return list.finished
    }
}

/// `users/lookup/email` and `users/lookup/id`, the older forms of the same.
enum LookupUsersEndpoint {
    static func byEmail(_ context: RequestContext) throws -> [UInt8] {
        try answer(context, "emailAddress", showsKey: true) { try $0.person(email: $1) }
    }

    static func byID(_ context: RequestContext) throws -> [UInt8] {
        try answer(context, "userRecordName", showsKey: false) { try $0.person(named: $1) }
    }

    /// `users/lookup/contacts`: the server has nobody's address book.
    static func contacts(_ context: RequestContext) throws -> [UInt8] {
        _ = try Directory(context)
        return JSONList("users").finished
    }

    private static func answer(
        _ context: RequestContext, _ key: StaticString, showsKey: Bool,
        _ find: (Directory, String) throws -> DiscoveredPerson?
    ) throws -> [UInt8] {
        let directory = try Directory(context)
        var list = JSONList("users")
        guard let users = try directory.items("users") else {
            throw RequestObject.missing("users")
        }
        // Names of records show nobody that their reader did not know.
        try directory.charge(showsKey ? users.count { _ in true } : 0)
        for element in users {
            guard let text = try RequestObject(element, key: "users").string(key) else {
                throw RequestObject.missing(key)
            }
            let found = try find(directory, text)
            list.append { writer in
                writer.raw("{")
                if let found {
                    writer.raw("\"userRecordName\":")
                    writer.string(found.userRecordName.text)
                    writer.appendNull("firstName", found.givenName)
                    writer.appendNull("lastName", found.familyName)
                    if showsKey {
                        writer.raw(",")
                        writer.append(key, text)
                    }
                } else {
                    writer.append(key, text)
                    writer.raw(",")
                    writer.raw(missing)
                }
                writer.raw("}")
            }
        }
        return list.finished
    }

    /// The same for a person who does not exist and for one who does not want to be found.
    private static let missing: StaticString =
        "\"reason\":\"no user to be found\",\"serverErrorCode\":\"NOT_FOUND\""
}

/// The people that a request's caller may look up.
private struct Directory {
    private let context: RequestContext

    /// - Throws: BAD_REQUEST for another database than the public one.
    init(_ context: RequestContext) throws(Fault) {
        if let scope = context.address.database, scope != .public {
            throw .badRequest(
                "endpoint not applicable in the database type '\(scope.rawValue)db'")
        }
        self.context = context
    }

    /// What is asked for; nil for a request without a body.
    func items(_ key: StaticString) throws -> JSONElements? {
        let body = try context.body()
        guard body[key] != nil else { return nil }
        return try body.items(key, context.limits)
    }

    /// Counts addresses that are looked up: they tell who has an account.
    ///
    /// - Throws: `Fault` THROTTLED, before anything is told.
    func charge(_ count: Int) throws(Fault) {
        guard let account = context.caller.account,
            let wait = context.discoveries.take(
                count, of: account, most: context.limits.discoveriesPerDayMax,
                now: context.clock.now())
        else { return }
        var fault = Fault(
            .throttled,
            "as many addresses were looked up as may be in a day (limits.discoveriesPerDayMax)")
        fault.retryAfterSeconds = wait
        throw fault
    }

    func person(_ info: RequestObject) throws -> DiscoveredPerson? {
        if let email = try info.string("emailAddress") { return try person(email: email) }
        if let phone = try info.string("phoneNumber") { return try person(phone: phone) }
        if let name = try info.string("userRecordName") { return try person(named: name) }
        throw Fault.badRequest(
            "lookupInfos: expected emailAddress, phoneNumber or userRecordName in each")
    }

    func person(email: String) throws -> DiscoveredPerson? {
        // NB: a text that is no address belongs to nobody.
        try person(try? AddressFormat.email(email))
    }

    private func person(phone: String) throws -> DiscoveredPerson? {
        // NB: a text that is no number belongs to nobody.
        try person(try? AddressFormat.phone(phone))
    }

    private func person(_ address: Address?) throws -> DiscoveredPerson? {
        guard let address else { return nil }
        return try context.catalog.discoverable(address, in: context.address.container)
    }

    /// Everybody finds themselves.
    func person(named text: String) throws -> DiscoveredPerson? {
        guard let name = UserRecordName(text) else { return nil }
        let found = try context.catalog.discoverable(name, in: context.address.container)
        guard name == context.caller.userRecordName, let account = context.caller.account,
            let own = try context.catalog.account(account)
        else { return found }
        return DiscoveredPerson(
            userRecordName: name, givenName: own.givenName, familyName: own.familyName)
    }
}

/// An answer whose one member is a list.
private struct JSONList {
    private var writer = JSONWriter(reserving: 512)
    private var isEmpty = true

    init(_ key: StaticString) {
        writer.raw("{\"")
        writer.raw(key)
        writer.raw("\":[")
    }

    mutating func append(_ write: (inout JSONWriter) -> Void) {
        if !isEmpty { writer.raw(",") }
        isEmpty = false
        write(&writer)
    }

    var finished: [UInt8] { writer.bytes + Array("]}".utf8) }
}

extension JSONWriter {
    fileprivate mutating func append(_ key: StaticString, _ text: String) {
        raw("\"")
        raw(key)
        raw("\":")
        string(text)
    }

    /// A further member, `null` where there is no text.
    fileprivate mutating func appendNull(_ key: StaticString, _ text: String?) {
        raw(",")
        guard let text else {
            raw("\"")
            raw(key)
            raw("\":null")
            return
        }
        append(key, text)
    }
}

extension DiscoverUsersEndpoint {
    static let takes = ObjectShape(
        "DiscoverUsersRequest",
        [
            .optional(
                "lookupInfos",
                .list(
                    .object(ShareDecoder.lookupInfo), most: \ServiceLimits.operationsPerRequestMax))
        ])
}

extension LookupUsersEndpoint {
    static let takesEmails = ObjectShape(
        "LookupUsersByEmailRequest", [users("UserByEmail", "emailAddress", .emailAddress)])
    static let takesIDs = ObjectShape(
        "LookupUsersByIDRequest", [users("UserByID", "userRecordName", .userRecordName)])

    private static func users(_ name: String, _ key: String, _ value: ValueShape) -> ObjectKey {
        .items("users", .object(ObjectShape(name, [.required(key, value)])))
    }

    static let answers = ObjectShape(
        "Users",
        [
            .required(
                "users",
                .list(
                    .object(
                        ObjectShape(
                            "User",
                            [
                                .optional("userRecordName", .userRecordName),
                                .optional("nameComponents", .object(CallerEndpoint.names)),
                                .optional("serverErrorCode", .words(FaultCode.self)),
                                .optional("reason", .text),
                            ]))))
        ])
}
