import Administration
import CProcess

extension Command {
    static let doctor = Command(
        "doctor", "look at disk, network, mail and backups, and say what to mend",
        reach: [.looks, .everywhere, .own], isLong: true,
        observes: ["clock": { MachineClock.state.rawValue }],
        action: .data { invocation, administrator in
            let clock = invocation.contents("clock").map { String(decoding: $0, as: UTF8.self) }
            let findings =
                [MachineClock.State(rawValue: clock ?? "")?.finding].compactMap { $0 }
                + (try administrator.perform(ExamineDeployment()))
            let problems = findings.filter { $0.level == .problem }
            return CommandOutput(
                report(findings),
                values: [
                    ("ok", .flag(problems.isEmpty)), ("problems", .texts(problems.map(\.text))),
                    (
                        "findings",
                        .objects(
                            findings.map {
                                [
                                    ("subject", .text($0.subject)),
                                    ("level", .text($0.level.rawValue)), ("text", .text($0.text)),
                                    ("remedy", .text($0.remedy)),
                                ]
                            })
                    ),
                ], status: problems.isEmpty ? 0 : 1)
        })

    /// The gravest first, each with what to do.
    private static func report(_ findings: [Finding]) -> String {
        let levels: [Finding.Level] = [.problem, .advice, .good]
        return levels.flatMap { level in findings.filter { $0.level == level } }
            .map { finding in
                "\(finding.level.rawValue): \(finding.subject): \(finding.text)"
                    + (finding.remedy.isEmpty ? "" : "\n    \(finding.remedy)")
            }.joined(separator: "\n")
    }
}

/// Whether this machine's clock is held to others': signed requests, tokens and backups go by it.
///
/// Asked by the process that was started, as the server's own unit keeps it from all calls about the clock.
enum MachineClock {
    enum State: String {
        case held, alone, unknown

        var finding: Finding {
            switch self {
            case .held: .good("clock", "this machine's clock is held to others'")
            case .alone:
                .problem(
                    "clock",
                    "nothing holds this machine's clock to others': signed requests may be refused",
                    remedy: "install systemd-timesyncd or chrony, and look at timedatectl")
            case .unknown:
                .advice(
                    "clock",
                    "the system does not say whether this machine's clock is held to others'",
                    remedy: "look at timedatectl on the machine itself")
            }
        }
    }

    static var state: State {
        switch lenticular_clock_is_held() {
        case 1: .held
        case 0: .alone
        default: .unknown
        }
    }
}
