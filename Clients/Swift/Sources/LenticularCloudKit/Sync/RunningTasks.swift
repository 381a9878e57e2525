/// The engine's tasks, so that they can be joined and cancelled.
actor RunningTasks {
    enum Kind {
        case fetch(CKSyncEngine.FetchChangesOptions.Scope)
        case send

        /// Whether this one does what the other would do.
        fileprivate func includes(_ other: Kind) -> Bool {
            guard case .fetch(let scope) = self, case .fetch(let wanted) = other else {
                return false
            }
            return scope.includes(wanted)
        }
    }

    private var tasks: [Int: (kind: Kind, task: Task<Void, any Error>)] = [:]
    private var next = 0
    /// How often everything was to end.
    private var timesCalledOff = 0

    /// Joins a task that is running and does all of what is wanted, or starts one.
    func join(_ kind: Kind, _ body: @escaping @Sendable () async throws -> Void) async throws {
        while let known = tasks.values.first(where: {
            !$0.task.isCancelled && $0.kind.includes(kind)
        })?.task {
            let before = timesCalledOff
            let result = await known.result
            // That who began it no longer waits says nothing about those who have joined.
            let isForsaken = known.isCancelled && timesCalledOff == before && !Task.isCancelled
            guard isForsaken, case .failure = result else { return try result.get() }
        }
        try await start(kind, body)
    }

    func start(_ kind: Kind, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let number = next
        next += 1
        let task = Task { try await body() }
        tasks[number] = (kind, task)
        defer { tasks[number] = nil }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// - Parameter waits: whether to return only once all have ended.
    func cancel(waits: Bool) async {
        timesCalledOff += 1
        let cancelled = tasks.values.map(\.task)
        for task in cancelled { task.cancel() }
        guard waits else { return }
        for task in cancelled { _ = await task.result }
    }
}

extension CKSyncEngine.FetchChangesOptions.Scope {
    /// Whether all that another scope means is meant by this one.
    fileprivate func includes(_ other: Self) -> Bool {
        switch (self, other) {
        case (.all, _): true
        case (.allExcluding(let excluded), .allExcluding(let others)):
            Set(excluded).isSubset(of: others)
        case (_, .zoneIDs(let zones)): zones.allSatisfy(contains)
        default: false
        }
    }
}
