import CloudDatabase
import CloudModel
import Fairness
import HTTP
import Storage

// What becomes of an admitted request: one step after the other, each where it holds nobody up.
extension ProtocolResponder {
    /// Takes an admitted request to its endpoint: here, or on a worker where it may be long.
    ///
    /// - Parameter wait: how it has waited for something to tell; nil where it has not.
    func enter(_ request: AdmittedRequest, at executor: Executor, after wait: AnswerWait?) {
        guard executor.loop != nil else { return step(request, at: executor, after: wait) }
        guard request.route.isShort,
            request.exchange.request.body.count <= RequestContext.loopBodyBytesMax
        else { return goOn(with: request, on: .short, from: executor, after: wait) }
        inTurn(request.exchange, of: request.principal) {
            self.step(request, at: executor, after: wait)
        }
    }

    /// Has a request make its next step.
    private func step(_ previous: AdmittedRequest, at executor: Executor, after wait: AnswerWait?) {
        do {
            let request = try current(previous)
            guard !request.identified.isRenewalDue || request.renewal != nil else {
                return renewWebToken(of: request, at: executor, after: wait)
            }
            guard let store = stores.known(request.address.container, request.address.environment)
            else { return open(request, at: executor, after: wait) }
            guard executor.loop == nil || store.storage.readsAtOnce || request.route.handsOn else {
                return goOn(with: request, on: .short, from: executor, after: wait)
            }
            let notices = store.storage.notices
            let mark = notices.mark
            let context = RequestContext(request, of: self, store: store, executor: executor)
            request.exchange.end(.waiting)
            let next = try next(request, context, since: mark, after: wait)
            request.exchange.end(request.route.isWrite ? .deciding : .reading)
            switch next {
            case .answer(let body): request.exchange.succeed(body)
            case .handedOn: break
            case .again(let lane): goOn(with: request, on: lane, from: executor, after: wait)
            case .wait(let early):
                if executor.loop != nil { request.exchange.stopWhenAbandoned() }
                held.hold(
                    request.exchange, early, notices, since: mark, for: request.principal,
                    after: wait
                ) { self.resume(request, after: $0) }
            }
        } catch let stopped as WorkStopped {
            // The work was abandoned: nobody gets its answer.
            guard stopped.reason == .makesRoom else { return }
            previous.exchange.stop.goOn()
            goOn(with: previous, on: .long, from: executor, after: wait)
        } catch {
            previous.exchange.fail(error)
        }
    }

    /// Goes on with a request whose answer was made on a thread that nobody may hold up.
    func proceed(
        with request: AdmittedRequest, _ made: Result<NextStep, any Error>, from executor: Executor
    ) {
        let exchange = request.exchange
        exchange.wake {
            exchange.end(.reading)
            switch made {
            case .success(.answer(let body)): exchange.succeed(body)
            case .success(.again(let lane)):
                self.goOn(with: request, on: lane, from: executor, after: nil)
            case .success(.handedOn), .success(.wait):
                exchange.fail(BrokenInvariant("what was handed on is answered, or begun again"))
            case .failure(let error): exchange.fail(error)
            }
        }
    }

    private func next(
        _ request: AdmittedRequest, _ context: RequestContext, since mark: CommitNotices.Mark,
        after wait: AnswerWait?
    ) throws -> NextStep {
        switch request.route.work {
        case .read(let answer): .answer(try answer(context))
        case .look(let look): try look(context)
        case .follow(let look):
            // The same commit wakes many, but only of those that have waited.
            wait == nil ? try look(context) : try follow(context, since: mark, look)
        case .write(let run): try run(context) { self.conclude(request, $0) }
        }
    }

    /// Answers with a page of a feed, which another may have asked for already.
    private func follow(
        _ context: RequestContext, since mark: CommitNotices.Mark,
        _ look: (RequestContext) throws -> NextStep
    ) throws -> NextStep {
        let question = Question(context)
        if let known = shared.answer(to: question, since: mark) { return .answer(known) }
        let next = try look(context)
        if case .answer(let body) = next { shared.keep(body, for: question, since: mark) }
        return next
    }

    /// Makes a new web token when half of the present one's life is over.
    private func renewWebToken(
        of request: AdmittedRequest, at executor: Executor, after wait: AnswerWait?
    ) {
        guard executor.mayWaitForCommits else {
            return goOn(with: request, on: .commits, from: executor, after: wait)
        }
        let token = dependencies.authenticator.renewedWebToken(
            request.identified, now: dependencies.clock.now())
        goOn(with: request.renewed(token), on: .short, from: executor, after: wait)
    }

    /// Opens the store that a request is about, and goes on with it then.
    private func open(_ request: AdmittedRequest, at executor: Executor, after wait: AnswerWait?) {
        if executor.loop != nil { request.exchange.stopWhenAbandoned() }
        stores.open(request.address.container, request.address.environment) { result in
            switch result {
            case .success: self.goOn(with: request, on: .short, from: executor, after: wait)
            case .failure(let error): request.exchange.fail(error)
            }
        }
    }

    /// Makes an answer again that came too early.
    private func resume(_ request: AdmittedRequest, after wait: AnswerWait) {
        let executor = Executor.loop(request.exchange.request.loop)
        let isOnLoop = request.exchange.resumeOnLoop {
            self.enter(request, at: executor, after: wait)
        }
        if !isOnLoop { goOn(with: request, on: .short, from: executor, after: wait) }
    }

    /// Has workers make the next step, in the caller's turn.
    private func goOn(
        with request: AdmittedRequest, on lane: Workers.Lane, from executor: Executor,
        after wait: AnswerWait?
    ) {
        if executor.loop != nil { request.exchange.stopWhenAbandoned() }
        // What was admitted before is not refused.
        submit(
            request.exchange, of: request.principal,
            isAdmitted: executor.loop == nil || wait != nil,
            on: lane
        ) { self.step(request, at: .worker(lane), after: wait) }
    }

    /// Has workers do something for a request, and answers where they refuse it.
    func submit(
        _ exchange: Exchange, of principal: Principal, isAdmitted: Bool, on lane: Workers.Lane,
        _ work: @escaping @Sendable () -> Void
    ) {
        do {
            try workers.submit(
                lane, for: principal, isAdmitted: isAdmitted, stop: exchange.stop, work)
        } catch {
            exchange.fail(error)
        }
    }

    /// Does work for a request on its event loop, when its caller's turn has come.
    func inTurn(
        _ exchange: Exchange, of principal: Principal, _ work: @escaping @Sendable () -> Void
    ) {
        let loop = exchange.request.loop
        guard turns.indices.contains(loop) else { return work() }
        turns[loop].serve(principal, stop: exchange.stop, later: { exchange.wake($0) }, work)
    }

    /// Answers a write that has ended.
    ///
    /// The writer calls this, and all others wait for the writer. So it only wakes those who make the answer
    /// and the line in the log.
    private func conclude(_ request: AdmittedRequest, _ result: Result<WrittenAnswer, any Error>) {
        let exchange = request.exchange
        exchange.wake {
            exchange.end(.committing)
            do {
                let answer = try result.get()
                if request.route.isShort, let body = try answer(exchange.request.loop) {
                    return exchange.succeed(body)
                }
                // NB: what was admitted before is not refused.
                try? self.workers.submit(.short, for: request.principal, isAdmitted: true) {
                    exchange.finish(Result { try Self.whole(answer) })
                }
            } catch {
                exchange.fail(error)
            }
        }
    }

    private static func whole(_ answer: WrittenAnswer) throws -> [UInt8] {
        guard let body = try answer(nil) else {
            throw BrokenInvariant("a worker makes every answer to a write: nobody else is left")
        }
        return body
    }

    /// Threads on which a request goes on, from whatever thread it is on.
    func longWork(of request: AdmittedRequest) -> LongWork {
        let exchange = request.exchange
        return LongWork(stop: exchange.stop, habits: habits) { body in
            exchange.wake {
                exchange.stopWhenAbandoned()
                exchange.stop.goOn()
                // NB: what was admitted before is not refused.
                try? self.workers.submit(
                    .long, for: request.principal, isAdmitted: true, stop: exchange.stop, body)
            }
        }
    }
}
