#pragma once

/// The name of a file system for SQLite that hands a transaction's frames on to the log in few writes.
///
/// SQLite writes each frame of its write-ahead log in two calls, the head and the page. This gathers those that follow
/// each other, and hands them on with the last frame of a commit, before a sync and before anything is read. So
/// whatever a commit has written stands in the log when SQLite names it to others, as without this. A write that fails
/// is told by the call that hands it on. All other files are those of the file system below.
///
/// Any thread may call it. What it makes stays for the life of the process, once for each name.
///
/// - Parameter below: the file system below by its SQLite name; null is the system's.
/// - Returns: null when there is no such file system, or no memory.
const char *_Nullable log_writes_gathered(const char *_Nullable below);
