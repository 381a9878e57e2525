import Administration
import Configuration

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Examination {
    /// Mail, and pushes to browsers and devices.
    func sending() throws -> [Finding] { try mail() + pushes() }

    private func mail() throws -> [Finding] {
        switch configuration.mail.sender {
        case .none:
            return [
                .advice(
                    "mail", "no letters are sent, so nobody can set a forgotten password anew",
                    remedy: "set mail.sender")
            ]
        case .log:
            guard isPublic else { return [.good("mail", "letters are printed in the log")] }
            return [
                .problem(
                    "mail", "letters are printed in the log, with links that let people in",
                    remedy: "set mail.sender to \"smtp\" or \"program\"")
            ]
        case .program:
            guard access(configuration.mail.program, X_OK) == 0 else {
                return [
                    .problem(
                        "mail", "\(configuration.mail.program) cannot be run",
                        remedy: "install it, or name another in mail.program")
                ]
            }
            return [.good("mail", "letters are handed to \(configuration.mail.program)")]
        case .smtp:
            let senders = try LetterSenders(
                configuration, clock: folder.clock, random: folder.random)
            defer { senders.stop() }
            let server = "\(configuration.mail.host):\(configuration.mail.port)"
            guard let obstacle = senders.mailObstacle() else {
                return [.good("mail", "\(server) answers")]
            }
            return [
                .problem(
                    "mail", "\(server): \(obstacle)",
                    remedy: "look at mail.host, mail.port and mail.security, and at the firewall")
            ]
        }
    }

    private func pushes() throws -> [Finding] {
        var found: [Finding] = []
        if try !folder.pushKeys.list().isEmpty, !ApplePushSupport.isBuilt {
            found.append(
                .problem(
                    "push",
                    "there are push keys for Apple's devices, and this build sends no such pushes",
                    remedy: "build with TRAITS=ApplePush, or take the package or the image"))
        }
        if isPublic, configuration.outgoing.contact.isEmpty {
            found.append(
                .advice(
                    "push",
                    "services that push to browsers are told nobody to turn to, and some refuse that",
                    remedy: "set outgoing.contact to a mailto: address"))
        }
        return found
    }
}
