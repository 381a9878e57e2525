#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A semaphore whose timed waits do not notice that somebody sets the clock of the machine.
///
/// On Linux those of Dispatch do: they take as much longer as the clock was set back.
package final class MonotonicSemaphore: @unchecked Sendable {
    // Unchecked: the count is touched only under the mutex.

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var count = 0

    package init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        #if canImport(Glibc)
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #else
            pthread_cond_init(condition, nil)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Lets one wait end, now or later.
    package func signal() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks until there is a signal.
    package func wait() {
        pthread_mutex_lock(mutex)
        while count == 0 { pthread_cond_wait(condition, mutex) }
        count -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Blocks until there is a signal or the time is over.
    ///
    /// - Returns: whether there was a signal.
    package func wait(nanoseconds: UInt64) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let end = Self.now() &+ nanoseconds
        while count == 0 {
            let now = Self.now()
            guard now < end, waitOnce(now: now, end: end) else { return false }
        }
        count -= 1
        return true
    }

    /// - Returns: false when the time was over.
    private func waitOnce(now: UInt64, end: UInt64) -> Bool {
        #if canImport(Glibc)
            var time = Self.time(end)
            return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
        #else
            var time = Self.time(end - now)
            return pthread_cond_timedwait_relative_np(condition, mutex, &time) != ETIMEDOUT
        #endif
    }

    private static func time(_ nanoseconds: UInt64) -> timespec {
        timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    /// Nanoseconds of the clock that the waits go by.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
