import Accounts
import CloudModel
import Control

extension Command {
    /// A moment as people type it.
    ///
    /// - Parameter option: what to call it where it is none.
    static func moment(_ text: String, of option: String) throws -> Milliseconds {
        let whole = text.utf8.count == 10 ? "\(text)T00:00:00Z" : text
        guard let time = RequestDate.milliseconds(whole) else {
            throw UsageFailure(
                "lenticular \(option) takes a day such as 2026-11-21, or a time in UTC such as "
                    + "2026-11-21T08:00:00Z")
        }
        return time
    }
}
