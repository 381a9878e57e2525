import CloudKitTransport

/// Where a container's server is and what lets a program in.
public typealias CKServerAccess = ServerAccess
