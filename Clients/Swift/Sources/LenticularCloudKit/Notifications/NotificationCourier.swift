import CloudKitTransport
import CloudKitWire
import Foundation

/// Fetches notifications for as long as somebody wants them, over connections that come and go.
struct NotificationCourier: Sendable {
    let connection: ServiceConnection
    let caller: CallerName
    let way: ServiceConnection.CourierWay
    let sleep: @Sendable (Double) async throws -> Void
    /// Called when there is a new address: what happened before is told to nobody.
    var onBegin: @Sendable () -> Void = {}

    /// After an answer that has ended as it should.
    private static let betweenAnswersSeconds = 0.01
    private static let firstPauseSeconds = 1.0
    private static let pauseSecondsMax = 60.0

    /// Where the courier has come to.
    private struct Progress {
        var address: URL?
        /// What came last, for the server to go on after.
        var last: String?
        var pause = NotificationCourier.firstPauseSeconds
        var told = RecentNames()
    }

    /// - Parameter tell: called for each notification, one after the other.
    /// - Throws: `CKError` when trying again is of no use. Returns when the task is cancelled.
    func run(_ tell: @Sendable (CKNotification) -> Void) async throws {
        var progress = Progress()
        while !Task.isCancelled {
            do {
                let began = ContinuousClock.now
                let answer = try await ask(&progress, tell)
                progress.pause = Self.firstPauseSeconds
                // A server that has nothing to say holds the request; one that does not is not to be hurried.
                let isHasty = !answer.hasTold && ContinuousClock.now - began < .seconds(1)
                let wait = min(Self.pauseSecondsMax, answer.wait ?? Self.betweenAnswersSeconds)
                try await sleep(isHasty ? max(wait, Self.firstPauseSeconds) : wait)
            } catch {
                if Task.isCancelled { return }
                let error = CKError(error)
                guard error.isWorthAsking else { throw error }
                let wait = error.retryAfterSeconds ?? progress.pause
                progress.pause = min(Self.pauseSecondsMax, progress.pause * 2)
                // Devices that lost one server are not to come back together.
                try await sleep(wait * Double.random(in: 1...1.25))
            }
        }
    }

    /// What has come of one answer.
    private struct Answered {
        var hasTold = false
        /// In how many seconds the server wants to be asked again, where it says so.
        var wait: Double?
    }

    private func ask(
        _ progress: inout Progress, _ tell: @Sendable (CKNotification) -> Void
    ) async throws -> Answered {
        let address: URL
        if let known = progress.address {
            address = known
        } else {
            address = try await connection.courierAddress()
            progress.address = address
            progress.last = nil
            onBegin()
        }
        switch try await connection.askCourier(at: address, way, after: progress.last) {
        case .gone:
            progress.address = nil
            throw CKError(.serviceUnavailable, "the address for notifications is gone")
        case .poll(let bytes):
            await note(bytes, &progress, tell)
            return Answered(hasTold: !bytes.isEmpty)
        case .events(let body):
            var parser = EventStreamParser()
            var hasTold = false
            for try await piece in body {
                for event in try parser.take(piece) {
                    await note(event.data, &progress, tell)
                    progress.last = event.id
                    progress.pause = Self.firstPauseSeconds
                    hasTold = true
                }
            }
            return Answered(hasTold: hasTold, wait: parser.retrySeconds)
        }
    }

    private func note(
        _ bytes: [UInt8], _ progress: inout Progress,
        _ tell: @Sendable (CKNotification) -> Void
    ) async {
        guard !bytes.isEmpty, let push = await dictionary(bytes),
            let notification = CKNotification(fromRemoteNotificationDictionary: push)
        else { return }
        // The server tells at least once; a repetition has the same name and subscription, and what several
        // subscriptions say of one change has one name.
        if let name = notification.notificationID {
            let what = "\(name) \(notification.subscriptionID ?? "")"
            guard progress.told.insert(what) else { return }
        }
        tell(notification)
    }

    /// A push as Apple's service would hand it over: its numbers of databases begin with 1, the courier's with 0.
    private func dictionary(_ bytes: [UInt8]) async -> [AnyHashable: Any]? {
        let read = try? JSONSerialization.jsonObject(with: Data(bytes))
        guard var push = read as? [String: Any], var ck = push["ck"] as? [String: Any] else {
            return nil
        }
        for kind in ["qry", "fet", "met"] {
            guard var body = ck[kind] as? [String: Any] else { continue }
            if let scope = body["dbs"] as? NSNumber {
                body["dbs"] = NSNumber(value: scope.intValue + 1)
            }
            ck[kind] = body
        }
        // Whose zones are the caller's own is told by their name.
        if ck["ckuserid"] == nil { ck["ckuserid"] = await caller.known }
        push["ck"] = ck
        return Dictionary(uniqueKeysWithValues: push.map { (AnyHashable($0.key), $0.value) })
    }
}

/// The last names that have come, so that a repetition is known.
private struct RecentNames {
    private static let keptMax = 256
    private var known: Set<String> = []
    private var order: [String] = []

    /// - Returns: whether the name is new.
    mutating func insert(_ name: String) -> Bool {
        guard known.insert(name).inserted else { return false }
        order.append(name)
        if order.count > Self.keptMax { known.remove(order.removeFirst()) }
        return true
    }
}

extension CKError {
    /// Whether the courier may be there again later.
    fileprivate var isWorthAsking: Bool {
        switch code {
        case .internalError, .networkFailure, .networkUnavailable, .requestRateLimited,
            .serverResponseLost, .serviceUnavailable, .zoneBusy, .operationCancelled:
            true
        default: false
        }
    }
}
