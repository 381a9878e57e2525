@_exported import LenticularCloudKit
