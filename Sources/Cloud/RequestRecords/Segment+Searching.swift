import CloudModel

extension Segment {
    /// Hands over the lines that a filter takes, the newest first.
    ///
    /// What is damaged is left out.
    /// - Parameter number: the segment's, in the location of each.
    /// - Returns: whether to go on with the segment before: false once `body` returned it.
    func visit(
        _ filter: RequestFilter, as number: UInt64,
        _ body: (RequestLocation, RequestEntry) throws -> Bool
    ) rethrows -> Bool {
        for offset in offsets(filter).reversed() {
            let location = RequestLocation(segment: number, offset: offset)
            if let before = filter.before, location >= before { continue }
            if let after = filter.after, location <= after { return true }
            guard let entry = readable(at: offset), filter.takes(entry) else { continue }
            guard try body(location, entry) else { return false }
        }
        return true
    }

    /// Its lines but for those of a person, and how many those are.
    ///
    /// What cannot be read any more goes as a whole, and counts as theirs.
    /// - Returns: nil where none is theirs.
    func lines(without person: RequestFilter.Person) -> (others: WaitingLines, erased: Int)? {
        var others = WaitingLines()
        var erased = 0
        do throws(DamagedLine) {
            var isThere = false
            for key in person.keys where try !lines(of: key).isEmpty { isThere = true }
            guard isThere else { return nil }
            for offset in try allLines() {
                let entry = try entry(at: offset)
                if person.has(entry) { erased += 1 } else { others.append(entry) }
            }
        } catch {
            (others, erased) = (WaitingLines(), max(1, erased))
        }
        return erased > 0 ? (others, erased) : nil
    }

    /// Nil for a line that cannot be read.
    private func readable(at offset: UInt32) -> RequestEntry? {
        do throws(DamagedLine) { return try entry(at: offset) } catch { return nil }
    }

    /// The lines to look at, in their order; none of a damaged segment.
    private func offsets(_ filter: RequestFilter) -> [UInt32] {
        do throws(DamagedLine) {
            guard let keys = filter.keys else { return try allLines() }
            guard keys.count > 1 else {
                return try keys.first.map { key throws(DamagedLine) in try lines(of: key) } ?? []
            }
            var found: Set<UInt32> = []
            for key in keys { found.formUnion(try lines(of: key)) }
            return found.sorted()
        } catch {
            return []
        }
    }
}
