import Accounts
import Audit
import CloudModel
import Synchronization

/// Counts failed sign-ins, and notes them in the audit log and the log.
///
/// Guesses come by the thousand. So only so many of an hour are noted one by one in the audit log, and of the
/// others their number, with the next one of another hour.
final class FailedSignIns: Sendable {
    private struct Hour {
        var number: Milliseconds = 0
        var noted = 0
        var passedOver = 0
    }

    /// Lines of the audit log in an hour.
    static let notedPerHourMax = 600
    private static let hourMilliseconds: Milliseconds = 3_600_000

    private let audit: any AuditStorage
    private let hour = Mutex(Hour())
    private let count = Atomic(0)
    private let log = Mutex<Log?>(nil)

    init(audit: any AuditStorage) { self.audit = audit }

    /// Says where lines go while a server runs, and who counts.
    func observe(by log: Log, in metrics: Metrics) {
        self.log.withLock { $0 = log }
        metrics.counter(
            "lenticular_sign_ins_failed_total",
            "Sign-ins refused for a wrong password, code or passkey, or for too many of them before."
        ) { [weak self] in
            Double(self?.count.load(ordering: .relaxed) ?? 0)
        }
    }

    func note(_ failure: SignInFailure) {
        count.add(1, ordering: .relaxed)
        let log = log.withLock { $0 }
        log?.sampled(
            "sign-in failed",
            [
                ("way", .text(failure.way.rawValue)),
                ("client", .text(failure.client?.blocks[0] ?? "unknown")),
                ("heldBack", .flag(failure.isHeldBack)),
            ])
        // What was not looked at is no guess.
        guard !failure.isHeldBack else { return }
        do throws(AuditFailure) { try keep(failure) } catch {
            log?.error("a failed sign-in not noted", [("failure", .text("\(error)"))])
        }
    }

    private func keep(_ failure: SignInFailure) throws(AuditFailure) {
        let number = failure.time / Self.hourMilliseconds
        let (isNoted, before) = hour.withLock { hour in
            let before = hour.number == number ? 0 : hour.passedOver
            if hour.number != number { hour = Hour(number: number) }
            guard hour.noted < Self.notedPerHourMax else {
                hour.passedOver += 1
                return (false, before)
            }
            hour.noted += 1
            return (true, before)
        }
        if before > 0 { try note("further sign-ins failed", failure, nil, "\(before)") }
        if isNoted {
            try note("sign-in failed", failure, failure.account, failure.way.rawValue)
        }
    }

    private func note(
        _ what: String, _ failure: SignInFailure, _ account: AccountID?, _ detail: String
    ) throws(AuditFailure) {
        try audit.note(
            AuditEntry(
                time: failure.time, who: "somebody", what: what, account: account?.text,
                detail: detail))
    }
}
