import CloudModel
import Platform
import RequestRecords
import WebServices

/// The heads of lines of those who asked lately: a device asks for the same again and again.
struct LineHeads {
    private var entries: [HeadEntry?] = Array(repeating: nil, count: Self.count)
    /// A power of two.
    private static let count = 4_096

    mutating func head(of request: borrowing RequestObservation) -> LineHead {
        // What failed says why, which is seldom the same.
        guard request.code == nil, request.reason == nil, request.claimedUser == nil else {
            return HeadEntry(request).head
        }
        let slot = Self.slot(of: request)
        if let entry = entries[slot], entry.takes(request) { return entry.head }
        let entry = HeadEntry(request)
        entries[slot] = entry
        return entry.head
    }

    private static func slot(of request: borrowing RequestObservation) -> Int {
        var hash = request.sender.softwareHash
        if let session = request.session, session.count >= 8 {
            hash ^= session.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
        if let operation = request.operation {
            hash &+= UInt64(operation.utf8.last ?? 0) &* 64 &+ UInt64(operation.utf8.count)
        }
        return Int(truncatingIfNeeded: (hash &* 0x9e37_79b9_7f4a_7c15) >> 48) & (count - 1)
    }
}

/// A head, and the requests that it is of.
private final class HeadEntry {
    let head: LineHead
    private let operation: String?
    private let container: String?
    private let user: UserRecordName?
    private let session: [UInt8]
    private let keyID: String?
    private let softwareHash: UInt64
    private let device: [UInt8]
    private let zone: ZoneID?

    /// What clients call something may be longer.
    private static let textBytesMax = 128

    init(_ request: borrowing RequestObservation) {
        operation = request.operation
        container = request.container
        user = request.userRecordName
        session = request.session ?? []
        keyID = request.keyID
        softwareHash = request.sender.softwareHash
        var name: [UInt8] = []
        request.sender.withDevice { name = Array($0) }
        device = name
        zone = request.work.zone?.zone
        let software = request.sender.software
        let reason = request.refusal.map { "\($0)" } ?? request.reason
        let (code, claimed) = (request.code?.rawValue, request.claimedUser)
        let (operation, container, user, zone) = (operation, container, user, zone)
        let (session, keyID) = (request.session, keyID)
        head = LineHead { texts in
            texts.append(.operation, operation)
            texts.append(.container, container, max: Self.textBytesMax)
            texts.append(.user, (user ?? claimed)?.text)
            if !name.isEmpty {
                texts.append(
                    .device, String(decoding: name, as: UTF8.self), max: Self.textBytesMax)
            }
            texts.append(
                .software,
                RequestEntry.Software(
                    kind: software.kind.rawValue, name: software.name, version: software.version
                ).lineText)
            texts.append(.session, digitsOf: session)
            texts.append(.key, keyID)
            texts.append(.code, code)
            texts.append(.reason, reason)
            if let zone { texts.append(zone: zone.name.text, owner: zone.owner?.text) }
        }
    }

    /// Whether a request that did not fail has this head.
    func takes(_ request: borrowing RequestObservation) -> Bool {
        softwareHash == request.sender.softwareHash && operation == request.operation
            && isSame(session, request.session) && user == request.userRecordName
            && keyID == request.keyID && zone == request.work.zone?.zone
            && container == request.container && isFrom(request.sender)
    }

    private func isSame(_ one: [UInt8], _ other: [UInt8]?) -> Bool {
        guard let other else { return one.isEmpty }
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let first = one.baseAddress, let second = other.baseAddress else {
                    return true
                }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    private func isFrom(_ sender: RequestSender) -> Bool {
        var isSame = device.isEmpty
        sender.withDevice { sent in
            guard sent.count == device.count, let start = sent.baseAddress else {
                isSame = false
                return
            }
            isSame = device.withUnsafeBytes { device in
                device.baseAddress.map { memcmp($0, start, sent.count) == 0 } ?? true
            }
        }
        return isSame
    }
}
