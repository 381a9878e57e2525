// Programs that import only this module (or `CloudKit`) expect dates, data and URLs to be there.
@_exported import Foundation
