import CloudModel
import Storage

extension SQLCatalog {
    static func add(
        _ passkey: StoredPasskey, _ account: AccountID, _ catalog: CatalogConnection
    ) throws {
        let added = try catalog.run(
            """
            INSERT INTO passkeys
            (id, account, public_key, sign_count, name, made_at, used_at)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, .bytes(passkey.id), .text(account.text), .bytes(passkey.publicKey),
            .integer(Int64(passkey.signCount)), .text(passkey.name),
            .integer(passkey.madeAt), .integer(passkey.usedAt))
        guard added == 1 else { throw CatalogRefusal.passkeyTaken }
    }

    static func passkeys(
        of accounts: [CatalogValue], in catalog: CatalogConnection
    ) throws -> [StoredPasskey] {
        try catalog.all(
            """
            SELECT id, account, public_key, sign_count, name, made_at, used_at FROM passkeys
            WHERE account IN (?*) ORDER BY made_at, id
            """, among: accounts, passkey)
    }

    package func use(
        passkey id: [UInt8], from previous: UInt32, to signCount: UInt32, now: Milliseconds
    ) throws -> Bool {
        try write(endsWhatWasTrue: false) {
            try $0.run(
                "UPDATE passkeys SET sign_count = ?, used_at = ? WHERE id = ? AND sign_count = ?",
                .integer(Int64(signCount)), .integer(now), .bytes(id),
                .integer(Int64(previous))) == 1
        }
    }

    private static func passkey(_ row: any CatalogRow) -> StoredPasskey {
        StoredPasskey(
            id: row.array(0), account: AccountID(row.string(1)), publicKey: row.array(2),
            signCount: UInt32(clamping: row.int64(3)), name: row.string(4), madeAt: row.int64(5),
            usedAt: row.int64(6))
    }
}
