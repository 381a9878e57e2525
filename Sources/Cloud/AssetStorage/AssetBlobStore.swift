import CloudModel

/// Where the bytes of one container environment's assets are kept, each file under its digest.
///
/// Everything may block, and belongs on worker threads. A file in place is whole and durable, and
/// never changes. The records' store knows who refers to it.
package protocol AssetBlobStore: AnyObject, Sendable {
    /// Whether opening a file takes only microseconds, as on a disk of this machine. Then an event
    /// loop may do it.
    var isLocal: Bool { get }

    /// Where files that nobody knows wait before they are removed; nil when they are removed at
    /// once.
    var trash: AssetTrash? { get }

    /// Begins a file whose digest is not known yet.
    ///
    /// - Parameter expectedBytes: how long the file will be, as far as known. It must leave the
    ///   free space that is required.
    /// - Throws: `AssetFailure.full`, and what the system reports.
    func begin(expectedBytes: Int) throws(AssetFailure) -> any AssetUpload

    /// Begins a file that the next process may go on with, where that can be.
    ///
    /// - Parameter name: of hexadecimal digits; what was begun by that name before is forgotten.
    /// - Throws: as `begin`.
    func begin(
        resumable name: String, byteCount: Int
    ) throws(AssetFailure) -> any AssetUpload

    /// Whether there is a file to go on with; a matter of microseconds.
    func canResume(_ name: String) -> Bool

    /// Goes on with a file that an earlier process has begun; nil where there is none.
    ///
    /// Reads what is there of it.
    func resume(_ name: String) throws(AssetFailure) -> ResumedAsset?

    /// Opens a file for reading; nil when there is none.
    func open(_ digest: AssetDigest) throws(AssetFailure) -> (any AssetReader)?

    /// Removes a file, if it is there.
    ///
    /// Those who have it open read on. If the file is not on this machine, they may get an error
    /// that it is gone.
    func delete(_ digest: AssetDigest) throws(AssetFailure)

    /// The files in place, in the order of their digests, after one of them.
    ///
    /// - Parameter limit: how many at most; fewer mean that there are no more.
    func list(after: AssetDigest?, limit: Int) throws(AssetFailure) -> [AssetListing]

    /// Removes what uploads have left that nobody can go on with; before the first upload.
    func removeUnfinished() throws(AssetFailure)

    /// Removes what unfinished uploads have left, of this process and of others. On other machines, these are the uploads
    /// that were begun before a moment. In a folder, they are those that have had no more bytes since. Also removes what
    /// was left by a removal of everything that was cut short.
    func removeAbandoned(begunBefore moment: Milliseconds) throws(AssetFailure)

    /// Removes what is there of resumable uploads whose names begin so; those that still come in come to nothing.
    func removeUnfinished(named prefix: String) throws(AssetFailure)

    /// Makes the sums beside a file again where they are missing or torn and the contents are whole.
    ///
    /// - Parameter comparing: whether sums that can be read are held against the contents, and mended
    ///   where they do not fit. Then all of the file is read; otherwise only where they are made.
    /// - Returns: whether they were made again.
    /// - Throws: `AssetFailure.damaged` when the contents that were read are not what they should be.
    func mendSums(_ digest: AssetDigest, comparing: Bool) throws(AssetFailure) -> Bool

    /// Removes everything: the container environment has gone.
    ///
    /// - Parameter goesOn: asked before each step; where it says no, another process may have put files there by now.
    /// - Throws: `AssetFailure.unavailable` where it was told not to go on.
    func removeEverything(while goesOn: () -> Bool) throws(AssetFailure)

    /// Where a client gets a file itself; nil when it comes from here.
    ///
    /// - Parameters:
    ///   - presentation: the answer's fields, without which the bytes could act in an origin.
    ///   - seconds: how long the address is good at most.
    func address(
        of digest: AssetDigest, presentation: AssetPresentation, seconds: Int64
    ) -> String?
}

extension AssetBlobStore {
    package var trash: AssetTrash? { nil }

    package func mendSums(
        _ digest: AssetDigest, comparing: Bool
    ) throws(AssetFailure) -> Bool { false }

    package func address(
        of digest: AssetDigest, presentation: AssetPresentation, seconds: Int64
    ) -> String? { nil }
}

/// What an answer says of a file, from this server or from the store.
package struct AssetPresentation: Sendable {
    package let type: String
    package let disposition: String

    package init(type: String, disposition: String) {
        self.type = type
        self.disposition = disposition
    }
}

/// A file on its way into a storage; used by one thread at a time.
package protocol AssetUpload: AnyObject {
    /// Adds bytes at the end.
    func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure)

    /// Ends the file and has it on disk, but not yet in place.
    func seal() throws(AssetFailure) -> AssetContent

    /// Puts the sealed file in place, durably; one of the same digest is replaced, or stays.
    func place() throws(AssetFailure)

    /// Leaves nothing behind; does nothing once the file is in place.
    func discard()
}

/// How files are checked: by parts of so many bytes.
package enum AssetParts {
    package static let byteCount = PartSums.partBytes
}

/// A file that is open for reading; usable from any thread.
package protocol AssetReader: AnyObject, Sendable {
    /// How long its contents are.
    var byteCount: Int { get }
    /// A descriptor whose bytes are the contents, open as long as the reader lives; nil when they have
    /// to be made.
    var descriptor: Int32? { get }
    /// From 1 to `count` bytes from an offset on; none at the end.
    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8]
    /// Whether `check` has found a stretch sound a moment ago; takes microseconds.
    func wasChecked(_ stretch: Range<Int>) -> Bool
    /// Makes sure that a stretch is what was stored, and that the file is as long as it was.
    ///
    /// The stretch must lie within the contents. Reads each part that the stretch touches, and a file of which no sums are kept once as a whole.
    /// Without a descriptor nothing of the stretch is read: whatever `read` gives from now on has been
    /// checked.
    ///
    /// - Throws: `AssetFailure.damaged`, and what reading throws.
    func check(_ stretch: Range<Int>) throws(AssetFailure)
}

/// A file in place.
package struct AssetListing: Sendable, Equatable {
    package let digest: AssetDigest
    /// When it was put there, in milliseconds since 1970.
    package let placed: Milliseconds
    /// How long its contents are; nil where the list does not tell.
    package let byteCount: Int?

    package init(digest: AssetDigest, placed: Milliseconds, byteCount: Int? = nil) {
        self.digest = digest
        self.placed = placed
        self.byteCount = byteCount
    }
}

/// What can go wrong with the bytes of assets.
package enum AssetFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no room, or only what is to be left free.
    case full
    /// The contents are not what was stored.
    case damaged(AssetDigest)
    /// The file is sealed and its key is not here.
    case keyMissing
    /// Where the files would be, the object named says that another server has its own.
    case ownedByAnother(object: String)
    /// Where the files are does not answer, or not well; trying again may help.
    case unavailable(call: String, reason: String)
    /// A call of the system, or of where the files are, failed.
    case system(call: String, reason: String)

    /// The container may be in use again.
    static let removalEnded = AssetFailure.unavailable(
        call: "remove", reason: "the turn to remove the container's files was lost")

    /// Whether the same may succeed later, without anybody doing something.
    package var mayPass: Bool {
        if case .unavailable = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .full: "no room for assets"
        case .damaged(let digest): "asset \(digest.hexadecimal) is damaged"
        case .keyMissing: "an asset is encrypted and the key is not configured"
        case .ownedByAnother(let object):
            "s3.prefix: another server keeps its assets there, as the bucket's object \(object) says; give "
                + "this one a prefix of its own, or delete that object if the other has gone for good"
        case .unavailable(let call, let reason): "\(call): \(reason)"
        case .system(let call, let reason): "\(call): \(reason)"
        }
    }
}
