import CloudKitTransport
import CloudKitWire
import Foundation

/// The address at which one device hears of its person's subscriptions.
struct MemoryCourier {
    /// How a device asks.
    enum Way {
        /// For one answer that goes on.
        case events
        /// For one notice.
        case poll
    }

    private struct Notice {
        let number: Int
        /// Of two that wait and say the same, the later one is enough; nil for one that says something of its own.
        let subject: String?
        let push: [UInt8]
        var isSent = false
    }

    /// The oldest go when nobody fetches them.
    private static let waitingMax = 1_000

    let person: String
    let device: String
    private var waiting: [Notice] = []
    private var last = 0
    private var badge: Int64 = 0
    private var reader: (way: Way, answer: StreamedBody.Continuation)?
    /// Tells readers apart.
    private var readers = 0

    /// Whether anybody waits here.
    var hasReader: Bool { reader != nil }

    init(person: String, device: String) {
        self.person = person
        self.device = device
    }

    /// Lets a request wait for notices; another that waits here is answered with none.
    ///
    /// - Parameter number: of the last notice that the device has had, and all before.
    /// - Returns: what to let go of the reader by.
    mutating func attach(
        _ way: Way, _ answer: StreamedBody.Continuation, after number: Int?
    ) -> Int {
        reader?.answer.finish()
        reader = (way, answer)
        readers += 1
        if let number { waiting.removeAll { $0.number <= number } }
        for index in waiting.indices { waiting[index].isSent = false }
        hand()
        return readers
    }

    /// Lets go of a reader that has gone, unless another has come since.
    mutating func detach(_ reader: Int) { if reader == readers { self.reader = nil } }

    /// Ends what waits.
    mutating func end() {
        reader?.answer.finish()
        reader = nil
    }

    mutating func tell(
        _ change: MemoryChange, to subscription: MemorySubscription, in container: String
    ) {
        let counts = subscription.info?["shouldBadge"]?.bool == true
        if counts { badge += 1 }
        let subject =
            subscription.kind == .query ? nil : "\(subscription.name.id) \(change.zone)"
        if let subject { waiting.removeAll { $0.subject == subject && !$0.isSent } }
        last += 1
        let push = change.push(for: subscription, in: container, badge: counts ? badge : nil)
        waiting.append(Notice(number: last, subject: subject, push: push))
        if waiting.count > Self.waitingMax { waiting.removeFirst() }
        hand()
    }

    /// Hands what waits to the devices that wait for it.
    private mutating func hand() {
        guard let (way, answer) = reader else { return }
        for index in waiting.indices where !waiting[index].isSent {
            let notice = waiting[index]
            let text =
                way == .poll
                ? notice.push
                : Array("id: \(notice.number)\ndata: ".utf8) + notice.push + Array("\n\n".utf8)
            if case .terminated = answer.yield(Data(text)) {
                reader = nil
                return
            }
            if way == .poll {
                waiting.remove(at: index)
                end()
                return
            }
            waiting[index].isSent = true
        }
    }
}

extension MemoryState.Contents {
    /// How many wait to be told.
    var listenerCount: Int { couriers.values.filter(\.hasReader).count }

    /// Makes an address at which a device gets its notices.
    mutating func makeCourier(of person: String, at device: String) -> String {
        let address = UUID().uuidString
        couriers[address] = MemoryCourier(person: person, device: device)
        return address
    }

    /// Ends the addresses of somebody who has signed out.
    mutating func endCouriers(of person: String) {
        for (address, courier) in couriers where courier.person == person {
            var courier = courier
            courier.end()
            couriers[address] = nil
        }
    }

    /// Tells people's devices of what one request has changed, but the device that has made it.
    mutating func tell(_ changes: [MemoryChange], in container: String) {
        /// Of what one request has done in a zone, one notice is enough.
        var merged: Set<[String]> = []
        for change in changes {
            let database = MemoryRequest.databaseName(change.scope, change.person)
            for (name, subscription) in databases[database]?.subscriptions ?? [:] {
                // NB: A query that cannot be answered here tells nothing, as it finds nothing.
                guard (try? subscription.isToFire(on: change)) == true,
                    subscription.kind == .query
                        || merged.insert([name.person, name.id, change.zone]).inserted
                else { continue }
                tell(change, to: subscription, in: container)
            }
        }
    }

    private mutating func tell(
        _ change: MemoryChange, to subscription: MemorySubscription, in container: String
    ) {
        let name = subscription.name
        let addresses = couriers.filter { $0.value.person == name.person }.keys
        let told = addresses.filter { couriers[$0]?.device != change.device }
        // Where only the device that has made the change would hear of it, nothing has fired.
        guard !told.isEmpty || addresses.isEmpty else { return }
        if subscription.firesOnce {
            let database = MemoryRequest.databaseName(change.scope, change.person)
            databases[database]?.subscriptions[name] = nil
        }
        for address in told {
            couriers[address]?.tell(change, to: subscription, in: container)
        }
    }
}
