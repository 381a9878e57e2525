import Accounts
import Administration
import Configuration
import Control

// What operators are told of the server itself, and ask of it.
extension DataFolder {
    package var serverState: ServerState {
        ServerState(
            version: ProgramVersion.text, commit: ProgramVersion.commit, since: serving.since,
            backups: serving.backups.map { rounds in
                let state = rounds.state
                var backups = ServerState.Backups()
                (backups.to, backups.everyMinutes) = (
                    configuration.backups.to, configuration.backups.everyMinutes
                )
                backups.isUnderWay = state.isUnderWay
                (backups.last, backups.verified) = (state.lastGood, state.verified)
                backups.lastStoredBytes = state.lastStoredBytes
                (backups.failures, backups.failure) = (state.failures, state.failure)
                backups.kept = state.kept
                return backups
            }, processes: engine.processes.living)
    }

    package var settingsInForce: [SettingInForce] {
        let origins = serving.origins
        return Setting.sections.flatMap(\.settings).map { setting in
            SettingInForce(
                path: setting.path, value: setting.written(of: configuration),
                origin: origins[setting.path].map { "\($0)" } ?? "default")
        }
    }

    package func askForBackup() throws {
        guard serving.since != nil else {
            throw CommandFailure("no server runs; `lenticular backup DEST` makes a copy")
        }
        guard let backups = serving.backups else {
            throw CommandFailure("the server makes no backups: backups.to is not set")
        }
        backups.ask()
    }

    package func sendTestLetter(to text: String) throws {
        let address = try AddressFormat.email(text)
        try mail(
            LetterText(
                subject: "Test letter",
                body: "An operator had this letter sent to see whether letters come. They do.\n"),
            to: address)
    }
}
