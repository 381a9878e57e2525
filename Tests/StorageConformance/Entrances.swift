import CloudModel
import Storage
import Synchronization

// The catalog: how people come in beside a password, and how they go.
extension StoragePromise {
    static let entrances = [
        StoragePromise("A step's code and a recovery code count once, and go with their account") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let (one, two) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
            let factor = SecondFactor(
                account: AccountID("a"), secret: [7], lastStep: 5, recovery: [one, two], madeAt: 9)
            try refuses(.accountUnknown) { try catalog.set(factor) }
            try catalog.add(account("a", "a@x.example"))
            try catalog.set(factor)
            let again = try testStore.location.openCatalog()
            try expect(again.secondFactor(of: AccountID("a")) == factor)
            var (used, last) = (factor, factor)
            (used.lastStep, used.recovery) = (7, [two])
            (last.lastStep, last.recovery) = (7, [])
            try expect(try again.set(used, inPlaceOf: factor))
            try expect(try !again.set(last, inPlaceOf: factor))
            try expect(try again.set(last, inPlaceOf: used))
            try expect(again.secondFactor(of: AccountID("a"))?.recovery == [])
            _ = try again.delete(AccountID("a"))
            try expect(again.secondFactor(of: AccountID("a")) == nil)
        },
        StoragePromise("What works once is used by one of many, until its time is over") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            try expect(try catalog.spend([1], expiresAt: 10, now: 1))
            try expect(try !catalog.spend([1], expiresAt: 10, now: 2))
            try expect(try catalog.spend([2], expiresAt: 10, now: 2))
            try expect(try !testStore.location.openCatalog().spend([1], expiresAt: 20, now: 9))
            try expect(try catalog.spend([1], expiresAt: 20, now: 10))
        },
        StoragePromise("Who somebody is at a provider is one account's, and never an address") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let provider = IdentityProviderRecord(
                name: "P", issuer: "https://p.example", client: "c", secret: [1, 2],
                signingKey: IdentityProviderRecord.SigningKey(team: "T", name: "K"),
                trustsEmail: true, usesFormPost: false, madeAt: 3)
            try catalog.add(provider)
            try refuses(.nameTaken) { try catalog.add(provider) }
            try expect(testStore.location.openCatalog().identityProviders(), is: [provider])
            let identity = ProvidedIdentity(issuer: provider.issuer, subject: "s")
            try catalog.add(account("a", "a@x.example"))
            try catalog.add(.identity(identity), of: AccountID("a"), now: 1)
            try catalog.add(.identity(identity), of: AccountID("a"), now: 2)
            try catalog.add(
                account("b", nil), by: .identity(ProvidedIdentity(issuer: "i", subject: "s")),
                now: 1)
            for text in ["b@x.example", "c@x.example"] {
                let address = Address(kind: .email, text: text, folded: text)
                try catalog.verify(address, of: AccountID("b"), now: 5)
            }
            try expect(catalog.account(AccountID("b"))?.email == "b@x.example")
            try refuses(.identityTaken) {
                try catalog.add(.identity(identity), of: AccountID("b"), now: 1)
            }
            try refuses(.identityTaken) {
                try catalog.add(account("c", nil), by: .identity(identity), now: 1)
            }
            try expect(catalog.account(AccountID("c")) == nil)
            try refuses(.accountUnknown) {
                try catalog.add(
                    .identity(ProvidedIdentity(issuer: "i", subject: "t")), of: AccountID("x"),
                    now: 1)
            }
            try expect(catalog.account(of: identity)?.id == AccountID("a"))
            try catalog.delete(.identity(identity), of: AccountID("b"))
            try expect(catalog.identities(of: AccountID("a")), is: [identity])
            try catalog.delete(.identity(identity), of: AccountID("a"))
            try expect(catalog.account(of: identity) == nil)
            try catalog.delete(.identityProvider(name: "P"))
            try refuses(.identityProviderUnknown) {
                try catalog.delete(.identityProvider(name: "P"))
            }
        },
        StoragePromise("A passkey is one account's, and its count goes on from what it was") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let passkey = StoredPasskey(
                id: [1], account: AccountID("a"), publicKey: [2], signCount: 4_000_000_000,
                name: "n", madeAt: 1, usedAt: 1)
            func add() throws { try catalog.add(.passkey(passkey), of: AccountID("a"), now: 1) }
            try refuses(.accountUnknown) { try add() }
            try catalog.add(account("a", "a@x.example"))
            try add()
            try refuses(.passkeyTaken) { try add() }
            try expect(catalog.account(ofPasskey: [1])?.id == AccountID("a"))
            try expect(catalog.account(ofPasskey: [2]) == nil)
            let again = try testStore.location.openCatalog()
            try expect(again.passkeys(of: AccountID("a")), is: [passkey])
            let means = try again.signInMeans(of: [
                AccountID("a"), AccountID("b"), AccountID("none"),
            ])
            try expect(
                means.compactMapValues { $0.passkeys.first?.account },
                is: [AccountID("a"): AccountID("a")])
            try expect(again.signInMeans(of: []).isEmpty)
            try expect(try !again.use(passkey: [1], from: 3, to: 5, now: 2))
            try expect(try again.use(passkey: [1], from: 4_000_000_000, to: 4_000_000_001, now: 2))
            try expect(again.passkeys(of: AccountID("a")).first?.signCount == 4_000_000_001)
            try again.delete(.passkey(id: [1]), of: AccountID("b"))
            try expect(again.account(ofPasskey: [1]) != nil)
            try again.delete(.passkey(id: [1]), of: AccountID("a"))
            try expect(again.account(ofPasskey: [1]) == nil)
        },
        StoragePromise("An account's end is due when it was asked for, and taken back once") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let ending = AccountEnding(
                account: AccountID("a"), dueAt: 10, publicRecords: .anonymous)
            try refuses(.accountUnknown) { try catalog.set(ending) }
            try catalog.add(account("a", "a@x.example"))
            try expect(!catalog.set(ending))
            let again = try testStore.location.openCatalog()
            try expect(again.ending(of: AccountID("a")) == ending)
            try expect(again.dueEndings(now: 9, countMax: 5).isEmpty)
            try expect(again.dueEndings(now: 10, countMax: 5), is: [ending])
            try expect(try again.replace(ending, by: nil))
            try expect(try !again.replace(ending, by: nil))
            let home = container("iCloud.home")
            try again.add(ContainerRecord(id: home, createdAt: 1))
            try again.note(TestStore.user(1), of: AccountID("a"), in: home)
            let gone = try again.delete(AccountID("a"), publicRecords: .delete)
            try expect(gone.map(\.publicRecords), is: [.delete])
            try expect(
                again.accountDeletions(ListRequest()).items.map(\.publicRecords), is: [.delete])
        },
    ]
}
