extension Command {
    /// Every command of the program, in the order in which help lists them.
    package static let all: [Command] =
        [serve] + containers + apiTokens + serverKeys + users + userEntrances + userData + userRoles
        + identityProviders + webTokens + pushKeys + webhooks + subscriptions
        + operators + operatorTokens
        + schemas + records + transfers + data + sizes + secrets + audit + [doctor] + configs
        + shell
        + [healthcheck, version]
}
