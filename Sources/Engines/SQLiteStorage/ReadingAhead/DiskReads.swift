#if canImport(Glibc)
    import Glibc
#endif

/// What the system counts of a thread's reads.
enum DiskReads {
    /// Blocks that came from a disk because the calling thread read them, and not from memory; always 0 where the
    /// system does not say.
    static var ofThisThread: Int {
        #if canImport(Glibc)
            var usage = rusage()
            guard getrusage(thisThread, &usage) == 0 else { return 0 }
            return usage.ru_inblock
        #else
            return 0
        #endif
    }

    #if canImport(Glibc)
        /// Linux's `RUSAGE_THREAD`, which Swift's module of the C library leaves out.
        private static let thisThread: Int32 = 1
    #endif
}
