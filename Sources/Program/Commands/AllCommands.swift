extension Command {
    /// Every command of the program, in the order in which help lists them.
    package static let all: [Command] =
        [serve] + containers + apiTokens + serverKeys + users + userEntrances + userData + userSync
        + userRoles
        + identityProviders + webTokens + pushKeys + webhooks + subscriptions + outboxes
        + operators + operatorTokens
        + schemas + records + recordStreams + shares + transfers + restores + data
        + storages + sizes
        + telemetry + alerts + secrets
        + audit + server
        + logs + [doctor] + configs + shell
        + [healthcheck, version]
}
