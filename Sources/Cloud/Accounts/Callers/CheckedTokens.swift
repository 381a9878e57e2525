import CloudModel
import Storage
import Synchronization

/// The pairs of tokens that were found good, by the bytes that clients present.
///
/// A pair counts as good until the catalog changes in a way that could end it. The caller checks
/// whether it has expired. Only good pairs are kept. When there are too many, all are dropped. This
/// is a cache: every process has its own, and a new version of the catalog empties it.
final class CheckedTokens: Sendable {
    struct Key: Hashable, Sendable {
        let apiToken: TokenBytes
        let webToken: TokenBytes?
    }

    final class Entry: Sendable {
        let apiToken: APITokenRecord
        let webToken: WebTokenRecord?
        let caller: Caller
        /// The web token as text, to be sent back.
        let webTokenText: String?
        /// The pair is good before this moment; without a web token, always.
        let endsAt: Milliseconds
        /// The web token is to be replaced after this moment.
        let halfLifeAt: Milliseconds
        private let usedAt = Atomic<Milliseconds>(.min)

        /// Whether a use at this moment is to be noted: the first one, and one a minute.
        func isUseNoted(at now: Milliseconds) -> Bool {
            let last = usedAt.load(ordering: .relaxed)
            guard last == .min || now < last || now - last >= LastUses.stepMilliseconds else {
                return false
            }
            usedAt.store(now, ordering: .relaxed)
            return true
        }

        /// An API token alone.
        init(apiToken: APITokenRecord) {
            self.apiToken = apiToken
            webToken = nil
            caller = .world
            webTokenText = nil
            endsAt = .max
            halfLifeAt = .max
        }

        /// An API token and a web token, which is never good when it is of another place.
        init(
            apiToken: APITokenRecord, webToken: WebTokenRecord, caller: Caller, text: String
        ) {
            self.apiToken = apiToken
            self.webToken = webToken
            self.caller = caller
            webTokenText = text
            let isHere =
                webToken.container == apiToken.container
                && webToken.environment == apiToken.environment
            endsAt = isHere ? webToken.expiresAt : .min
            halfLifeAt = webToken.madeAt + (webToken.expiresAt - webToken.madeAt) / 2
        }
    }

    /// Where a web token's replacement stands.
    ///
    /// It only saves making the replacement again. The replacement is derived from the token, so
    /// every process makes the same one (`WebTokens.renew`), and the catalog keeps it once.
    enum Successor: Sendable {
        case beingMade
        case made(String)
    }

    private struct State {
        var version = 0
        var entries: [Key: Entry] = [:]
        var successors: [TokenBytes: Successor] = [:]

        /// Drops everything when the catalog has changed since.
        mutating func follow(_ current: Int) {
            guard version != current else { return }
            version = current
            entries.removeAll(keepingCapacity: true)
            successors.removeAll(keepingCapacity: true)
        }
    }

    private let state = Mutex(State())
    private let entriesMax: Int

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    /// How many pairs are remembered.
    var count: Int { state.withLock { $0.entries.count } }

    /// The pair as found good before, if the catalog's version is still what it was then.
    func entry(_ key: Key, version: Int) -> Entry? {
        state.withLock {
            $0.follow(version)
            return $0.entries[key]
        }
    }

    /// Keeps a pair that was found good after the catalog's version was read.
    func keep(_ entry: Entry, for key: Key, version: Int) {
        state.withLock { state in
            guard state.version == version else { return }
            if state.entries.count >= entriesMax { state.entries.removeAll() }
            state.entries[key] = entry
        }
    }

    /// What replaces the web token, if anything does yet.
    func successor(of token: TokenBytes) -> Successor? {
        state.withLock { $0.successors[token] }
    }

    /// Whether the calling thread is the one to make a replacement.
    func beginRenewal(of token: TokenBytes) -> Bool {
        state.withLock { state in
            guard state.successors[token] == nil else { return false }
            if state.successors.count >= entriesMax { state.successors.removeAll() }
            state.successors[token] = .beingMade
            return true
        }
    }

    /// Notes the replacement, or with nil that none could be made.
    func endRenewal(of token: TokenBytes, made: String?) {
        state.withLock { $0.successors[token] = made.map { .made($0) } }
    }
}
