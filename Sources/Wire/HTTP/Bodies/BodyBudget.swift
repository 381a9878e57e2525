import Network
import Synchronization

/// The owner whose share the memory of a body counts towards.
package enum BodyOwner: Hashable, Sendable {
    /// A caller that the responder has identified, by a number of its choice.
    case caller(Int)
    /// A caller not yet identified, by address; nil for a Unix socket.
    case block(AddressBlock?)
    /// All callers together whose requests will be refused in any case.
    case doubted
}

/// The memory that request bodies of a whole server may take, with what is made of them.
///
/// One owner has at most an eighth of it, or the size of one body if that is more. The doubted
/// together have a sixteenth. So no owner's bodies can shut out those of others.
package final class BodyBudget: Sendable {
    private struct Used {
        var total = 0
        var byOwner: [BodyOwner: Int] = [:]
    }

    private static let ownersSharing = 8
    private static let doubtedSharing = 16
    /// The part of an owner's share that large bodies may announce before others wait: the index that is made of a body
    /// takes more than the body, and of each that waits there is what came with its head.
    private static let turnsSharing = 4

    package let bytesMax: Int
    private let bodyBytesMax: Int
    private let used = Mutex(Used())
    /// Of the callers that have been identified.
    let turns: BodyTurns

    /// - Parameter bodyBytesMax: of one body.
    package init(bytesMax: Int, bodyBytesMax: Int = 0) {
        self.bytesMax = bytesMax
        self.bodyBytesMax = bodyBytesMax
        let share = max(bodyBytesMax, bytesMax / Self.ownersSharing)
        turns = BodyTurns(bytesMax: share / Self.turnsSharing)
    }

    deinit {
        assert(
            used.withLock { $0.total == 0 && $0.byOwner.isEmpty },
            "each body holds the budget until it has given all back: else others would be refused for good"
        )
    }

    /// What is taken at present.
    package var bytesUsed: Int { used.withLock { $0.total } }
    /// How many owners have taken something.
    package var ownerCount: Int { used.withLock { $0.byOwner.count } }

    private func share(of owner: BodyOwner) -> Int {
        owner == .doubted
            ? bytesMax / Self.doubtedSharing : max(bodyBytesMax, bytesMax / Self.ownersSharing)
    }

    /// - Parameter held: what the same body has taken before: one alone may pass its owner's share.
    fileprivate func take(_ bytes: Int, for owner: BodyOwner, besides held: Int?) -> Bool {
        used.withLock { used in
            let before = used.byOwner[owner, default: 0]
            let isAlone = held == before
            guard bytes <= bytesMax - used.total, isAlone || bytes <= share(of: owner) - before
            else { return false }
            used.total += bytes
            // An owner that holds nothing leaves nothing behind.
            used.byOwner[owner] = before + bytes > 0 ? before + bytes : nil
            return true
        }
    }

    fileprivate func give(_ bytes: Int, of owner: BodyOwner) {
        guard bytes > 0 else { return }
        used.withLock { used in
            used.total -= bytes
            let left = used.byOwner[owner, default: 0] - bytes
            assert(used.total >= 0 && left >= 0, "a body gives back what it has taken, once")
            used.byOwner[owner] = left > 0 ? left : nil
            assert(
                !used.byOwner.isEmpty || used.total == 0,
                "where no owner has anything nothing is taken: else bodies would be refused for good"
            )
        }
    }
}

/// What one body has taken of the budget; given back when nobody holds this any more.
///
/// It belongs to the request, so it ends with the request, however that ends.
package final class BodyCharge: Sendable {
    private struct State {
        var owner: BodyOwner
        var bytes = 0
    }

    package let budget: BodyBudget
    /// Ends when the memory is given back.
    let turn: BodyTurns.Turn?
    private let state: Mutex<State>

    package convenience init(_ budget: BodyBudget, for owner: BodyOwner) {
        self.init(budget, for: owner, turn: nil)
    }

    init(_ budget: BodyBudget, for owner: BodyOwner, turn: BodyTurns.Turn?) {
        self.budget = budget
        self.turn = turn
        state = Mutex(State(owner: owner))
    }

    deinit { state.withLock { budget.give($0.bytes, of: $0.owner) } }

    package var bytes: Int { state.withLock { $0.bytes } }

    /// Takes more; false, with nothing taken, where the owner's share or the whole is used up.
    ///
    /// - Parameter mayPassShare: lets an owner who has nothing else in hand pass their share.
    package func grow(by bytes: Int, mayPassShare: Bool = false) -> Bool {
        state.withLock { state in
            let held = mayPassShare ? state.bytes : nil
            guard budget.take(bytes, for: state.owner, besides: held) else { return false }
            state.bytes += bytes
            return true
        }
    }

    /// Gives a part back.
    package func shrink(by bytes: Int) {
        state.withLock { state in
            let bytes = min(bytes, state.bytes)
            state.bytes -= bytes
            budget.give(bytes, of: state.owner)
        }
    }

    /// Moves all of it to another owner; false, with nothing changed, when that owner's share is
    /// used up.
    package func move(to owner: BodyOwner) -> Bool {
        state.withLock { state in
            if state.owner == owner { return true }
            // Give back first: otherwise the same bytes would need room twice.
            budget.give(state.bytes, of: state.owner)
            if budget.take(state.bytes, for: owner, besides: nil) {
                state.owner = owner
                return true
            }
            // NB: another owner may have taken what was just given back: then less is kept.
            if !budget.take(state.bytes, for: state.owner, besides: nil) { state.bytes = 0 }
            return false
        }
    }
}
