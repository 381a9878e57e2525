extension Command {
    /// Every command of the program, in the order in which help lists them.
    package static let all: [Command] =
        [serve] + containers + apiTokens + serverKeys + users + userEntrances + userData + userRoles
        + identityProviders + webTokens + pushKeys + webhooks + subscriptions
        + schemas + data + sizes + telemetry + alerts + secrets + audit + [doctor] + configs + shell
        + [healthcheck, version]
}
