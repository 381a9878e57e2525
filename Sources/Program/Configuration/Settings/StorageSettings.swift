/// How the SQLite databases are run.
package struct StorageSettings: Sendable, Equatable {
    /// Whether a database is copied before it is migrated.
    package enum MigrationCopies: String, Sendable, CaseIterable { case on, off }

    package var backupBeforeMigration = MigrationCopies.on
    package var storesOpenMax = 128
    package var storeIdleMinutes = 10
    /// 0 for one per core.
    package var readers = 0
    package var writerCacheKiB = 32_768
    package var readerCacheKiB = 16_384
    package var knownPlacesKiB = 32_768
    package var checkpointPages = 4_000
    package var walBytesMax = 268_435_456
    package var reserveBytes = 33_554_432
    package var groupOperationsMax = 20_000
    package var groupBytesMax = 4_194_304
    package var groupMillisecondsMax = 20
    package var waitingWritesMax = 8_192
    package var waitingBytesMax = 268_435_456
    package var followerChangesMax = 250_000
    package var moveFreeBytesMin = 67_108_864
}

extension StorageSettings {
    static let section = Setting.Section(
        name: "storage",
        documentation: "The databases; each container's environment has one of its own.",
        settings: [
            .choice(
                "storage.backupBeforeMigration", \.storage.backupBeforeMigration,
                """
                Whether a database that a newer version is about to migrate is copied beside itself \
                first, if there is room; the copy ends in .v and the version's number.
                """),
            .number(
                "storage.storesOpenMax", \.storage.storesOpenMax, 1...100_000, "databases",
                """
                Databases of containers' environments that are open at once, at about 1.4 MB and 7 \
                descriptors each. The one that was unused the longest is closed for another; more are \
                open only while requests or queued work need them.
                """),
            .number(
                "storage.storeIdleMinutes", \.storage.storeIdleMinutes, 1...525_600, "minutes",
                "After this a database that nobody uses is closed."),
            .number(
                "storage.readers", \.storage.readers, 0...256, "connections",
                zero: "one per core",
                "Reading connections kept open to a database, beside one for each event loop."),
            .number(
                "storage.writerCacheKiB", \.storage.writerCacheKiB, 1_024...16_777_216, "KiB",
                "Memory for pages of the connection that writes to a database."),
            .number(
                "storage.readerCacheKiB", \.storage.readerCacheKiB, 256...16_777_216, "KiB",
                "Memory for pages of each reading connection, which it takes as it reads."),
            .number(
                "storage.knownPlacesKiB", \.storage.knownPlacesKiB, 0...16_777_216, "KiB",
                zero: "none",
                """
                Memory for the places of records that were saved or looked up last, of all databases \
                together, taken as records come: about 21 bytes for each. With its place a record is \
                found by one read instead of three.
                """),
            .number(
                "storage.checkpointPages", \.storage.checkpointPages, 100...1_000_000, "pages",
                "Pages of the write-ahead log from which they are moved into the database."),
            .number(
                "storage.walBytesMax", \.storage.walBytesMax, 4_194_304...68_719_476_736, "bytes",
                "Size of the write-ahead log from which writers wait until it has been emptied."),
            .number(
                "storage.reserveBytes", \.storage.reserveBytes, 0...68_719_476_736, "bytes",
                zero: "no reserve",
                """
                A file kept in the data folder and given up when the disk is full, so that \
                deletions and shutting down still work.
                """),
            .number(
                "storage.groupOperationsMax", \.storage.groupOperationsMax, 1...1_000_000,
                "operations",
                "Operations that are committed together at most."),
            .number(
                "storage.groupBytesMax", \.storage.groupBytesMax, 65_536...1_073_741_824, "bytes",
                """
                Bytes of records that are committed together at most; a larger request goes alone. \
                What waits for more than one group is taken from all callers in turn.
                """),
            .number(
                "storage.groupMillisecondsMax", \.storage.groupMillisecondsMax, 1...10_000,
                "milliseconds",
                """
                For how long further requests are taken into a group before it is committed. Where \
                commits take long, up to twice as long as they do, while both together stay within \
                three times this.
                """),
            .number(
                "storage.waitingWritesMax", \.storage.waitingWritesMax, 8...1_000_000, "requests",
                """
                Writes to one database that may wait; more are told to try again later. Of one \
                caller an eighth may wait; more of theirs are refused as too many (429).
                """),
            .number(
                "storage.waitingBytesMax", \.storage.waitingBytesMax,
                1_048_576...17_179_869_184, "bytes",
                "The same for the bytes that they bring."),
            .number(
                "storage.followerChangesMax", \.storage.followerChangesMax, 1_000...100_000_000,
                "changes",
                """
                Changes of a database that are kept for a part of the server which follows them, such as \
                the one that sends notifications, and does not come; then it has to begin anew.
                """),
            .number(
                "storage.moveFreeBytesMin", \.storage.moveFreeBytesMin, 0...1_125_899_906_842_624,
                "bytes",
                """
                Room on the disk without which nothing is moved that a former version has left in \
                another form; it is used as it is until there is room.
                """),
        ])
}
