/// How far a check has come: through which of its parts, and how much of the one that it is at.
///
/// For one thread at a time.
package final class CheckProgress {
    /// Nobody waits for the check any more.
    package struct Abandoned: Error, CustomStringConvertible {
        package let description = "interrupted"
    }

    private let tell: (String) -> Bool
    private var partCount = 1
    private var begun = 0
    private var name = ""

    /// - Parameter tell: gets a line such as `42 % iCloud.a development, files`, however often; false when nobody waits
    ///   for the check any more.
    package init(_ tell: @escaping (String) -> Bool = { _ in true }) { self.tell = tell }

    /// Says of how many parts it will be.
    package func expect(parts count: Int) { partCount = max(1, count) }

    /// Begins the next part.
    package func begin(_ name: String) throws(Abandoned) {
        begun += 1
        self.name = name
        try advance(0, of: 1)
    }

    /// Says how much of the part is done.
    package func advance(_ done: Int, of whole: Int) throws(Abandoned) {
        let part = Double(done) / Double(max(1, whole))
        let share = (Double(begun - 1) + min(1, part)) / Double(max(partCount, begun))
        guard tell("\(Int(share * 100)) % \(name)") else { throw Abandoned() }
    }
}
