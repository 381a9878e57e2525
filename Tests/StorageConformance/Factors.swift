import CloudModel
import Storage
import Synchronization

// What shows who somebody is beside a password, and accounts that come to their end.
extension StoragePromise {
    private static func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    private static func factor(
        _ account: String, recovery: [[UInt8]] = [digest(1), digest(2)]
    ) -> SecondFactor {
        SecondFactor(
            account: TestPeople.id(account), secret: [9, 0, 255], lastStep: 10,
            recovery: recovery, madeAt: 5)
    }

    static let factors = [
        StoragePromise("A second factor is one account's, and a code of it counts once") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            try scene.refuses(.accountUnknown) { try catalog.set(factor("none")) }
            try expect(!catalog.set(factor("ann"), inPlaceOf: factor("ann")))
            try catalog.set(factor("ann"))
            let again = try testStore.location.openCatalog()
            try expect(again.secondFactor(of: ann) == factor("ann"))
            try expect(again.secondFactor(of: TestPeople.id("bob")) == nil)
            let counted = Mutex(0)
            try together(8) { _ in
                var used = factor("ann")
                used.lastStep = 12
                if try catalog.set(used, inPlaceOf: factor("ann")) {
                    counted.withLock { $0 += 1 }
                }
            }
            try expect(counted.withLock { $0 }, is: 1)
            try expect(catalog.secondFactor(of: ann)?.lastStep, is: 12)
            try catalog.delete(.secondFactor, of: TestPeople.id("bob"))
            try expect(catalog.secondFactor(of: ann) != nil)
            try catalog.delete(.secondFactor, of: ann)
            try catalog.delete(.secondFactor, of: ann)
            try expect(catalog.secondFactor(of: ann) == nil)
        },
        StoragePromise("A recovery code is used by one caller; so is what works once") {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            try catalog.set(factor("ann"))
            let used = Mutex((codes: 0, spent: 0))
            try together(8) { _ in
                let rest = factor("ann", recovery: [digest(2)])
                if try catalog.set(rest, inPlaceOf: factor("ann")) {
                    used.withLock { $0.codes += 1 }
                }
                if try catalog.spend([7], expiresAt: 100, now: 1) {
                    used.withLock { $0.spent += 1 }
                }
            }
            try expect(used.withLock { $0.codes == 1 && $0.spent == 1 })
            try expect(catalog.secondFactor(of: ann)?.recovery ?? [], is: [digest(2)])
            try expect(catalog.spend([8], expiresAt: 100, now: 99))
            try expect(!testStore.location.openCatalog().spend([7], expiresAt: 100, now: 99))
        },
        StoragePromise("A sealed secret is replaced where the former one still is") { testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            try catalog.set(factor("ann"))
            _ = try catalog.secret("own 1", orStore: [1])
            _ = try catalog.secret("other", orStore: [2])
            try catalog.add(
                IdentityProviderRecord(
                    name: "Id", issuer: "https://id.example", client: "c", secret: [3],
                    signingKey: nil, trustsEmail: false, usesFormPost: false, madeAt: 1))
            let locations: [SealedSecretLocation] = [
                .secondFactor(ann), .identityProvider(issuer: "https://id.example"), .own("own 1"),
            ]
            let sealed = try catalog.sealedSecrets(ownNamed: "own")
            try expect(sealed.map(\.location), is: locations)
            try expect(sealed.map(\.sealed), is: [[9, 0, 255], [3], [1]])
            let changes = sealed.map {
                SealedChange(location: $0.location, previous: $0.sealed, sealed: [7] + $0.sealed)
            }
            let count = Mutex(0)
            try together(8) { _ in
                let replaced = try catalog.replace(changes)
                count.withLock { $0 += replaced }
            }
            try expect(count.withLock { $0 }, is: 3)
            let again = try testStore.location.openCatalog().sealedSecrets(ownNamed: "own")
            try expect(again.map(\.sealed), is: [[7, 9, 0, 255], [7, 3], [7, 1]])
            let nowhere = SealedChange(
                location: .secondFactor(TestPeople.id("bob")), previous: [1], sealed: [2])
            try expect(catalog.replace([nowhere]), is: 0)
        },
        StoragePromise("An account's end is due at its moment, unless it is taken back") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob", "eve"])
            let catalog = scene.catalog
            func ending(_ name: String, _ due: Milliseconds) -> AccountEnding {
                AccountEnding(account: TestPeople.id(name), dueAt: due, publicRecords: .anonymous)
            }
            try scene.refuses(.accountUnknown) {
                try catalog.set(ending("none", 1))
            }
            for (name, due): (String, Milliseconds) in [("ann", 50), ("bob", 20), ("eve", 30)] {
                try catalog.set(ending(name, due))
            }
            try expect(catalog.set(ending("eve", 10)))
            let again = try testStore.location.openCatalog()
            try expect(again.ending(of: TestPeople.id("eve")) == ending("eve", 10))
            try expect(again.dueEndings(now: 9, countMax: 9).isEmpty)
            try expect(
                again.dueEndings(now: 49, countMax: 9) == [ending("eve", 10), ending("bob", 20)])
            try expect(again.dueEndings(now: 99, countMax: 1) == [ending("eve", 10)])
            // What was read before and is another by now is not replaced.
            try expect(!again.replace(ending("eve", 30), by: nil))
            try expect(again.replace(ending("eve", 10), by: ending("eve", 0)))
            try expect(!again.replace(ending("eve", 10), by: nil))
            try expect(again.ending(of: TestPeople.id("eve")) == ending("eve", 0))
            try expect(again.replace(ending("eve", 0), by: nil))
            try expect(!again.replace(ending("eve", 0), by: nil))
            try expect(again.ending(of: TestPeople.id("eve")) == nil)
            _ = try again.delete(TestPeople.id("bob"))
            try expect(again.dueEndings(now: 99, countMax: 9) == [ending("ann", 50)])
        },
    ]
}
