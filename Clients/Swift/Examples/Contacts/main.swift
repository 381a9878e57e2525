import Foundation
import LenticularCloudKit

// A small address book on the command line. Where the server is and who is signed in stands in the file that
// LENTICULAR_SERVICE_FILE names.

let usage = """
    contacts add NAME PHONE      adds somebody
    contacts note NAME TEXT      keeps a note about them, which nobody else can read
    contacts list                lists one's own contacts and those that others share
    contacts share NAME EMAIL    invites somebody to a contact, and prints the link for them
    contacts accept LINK         takes part in what a link leads to
    contacts follow              tells of changes until it is stopped
    contacts code                prints the code that opens the notes on another device
    contacts unlock CODE         opens the notes on this device
    """

let container = CKContainer.default()
let book = AddressBook(container)
let arguments = Array(CommandLine.arguments.dropFirst())

do {
    try await book.open()
    switch (arguments.first, Array(arguments.dropFirst())) {
    case ("add", let words) where words.count == 2:
        try await book.add(words[0], phone: words[1])
    case ("note", let words) where words.count == 2:
        try await book.note(words[1], on: words[0])
    case ("list", []):
        for contact in try await book.contacts() { print(contact.line) }
        for contact in try await book.sharedContacts() { print("shared: \(contact.line)") }
    case ("share", let words) where words.count == 2:
        print(try await book.share(words[0], with: words[1])?.absoluteString ?? "")
    case ("accept", let words) where words.count == 1:
        guard let link = URL(string: words[0]) else { throw CKError(.invalidArguments) }
        try await book.accept(link)
    case ("follow", []):
        let follower = Follower { line in
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
        let databases = [container.privateCloudDatabase, container.sharedCloudDatabase]
        let engines = databases.map { database in
            CKSyncEngine(
                CKSyncEngine.Configuration(
                    database: database, stateSerialization: nil, delegate: follower))
        }
        // They work by themselves: the server tells them when to look. The program has only to stay.
        while !engines.isEmpty { try await Task.sleep(nanoseconds: 1_000_000_000) }
    case ("code", []): print(try await container.encryption.recoveryCode() ?? "")
    case ("unlock", let words) where words.count == 1:
        try await container.encryption.unlock(recoveryCode: words[0])
    default:
        print(usage)
        exit(2)
    }
} catch {
    let reason = (error as? CKError)?.localizedDescription ?? "\(error)"
    FileHandle.standardError.write(Data("contacts: \(reason)\n".utf8))
    exit(1)
}
