// What promises of a database or container resolve with. Items that failed are in `errors`.

export class Response {
  /** `facts`: its own properties, as an app reads them. */
  constructor(errors, facts) {
    this.errors = errors;
    Object.assign(this, facts);
  }

  get isResponse() { return true; }
  get hasErrors() { return this.errors.length > 0; }

  toString() {
    return `${this.constructor.name} ${JSON.stringify(this)}`;
  }
}

export class RecordsResponse extends Response {
  get isRecordsResponse() { return true; }
}

export class QueryResponse extends RecordsResponse {
  get isQueryResponse() { return true; }
  get moreComing() { return this.continuationMarker != null; }
}

export class DatabaseChangesResponse extends Response {
  get isDatabaseChangesResponse() { return true; }
}

export class RecordZoneChangesResponse extends Response {
  get isRecordZoneChangesResponse() { return true; }
}

export class RecordZonesResponse extends Response {
  get isRecordZonesResponse() { return true; }
}

export class SubscriptionsResponse extends Response {
  get isSubscriptionsResponse() { return true; }
}

export class UserIdentitiesResponse extends Response {
  get isUserIdentitiesResponse() { return true; }
}

export class RecordInfosResponse extends Response {
  get isRecordInfosResponse() { return true; }
}
