// What goes wrong, by one class: the server's faults, and those that arise on the way to it.

// Each code with what an app can do about it.
const remedies = {
  ACCESS_DENIED: 'The user may not do this: check the roles of the record type, or the share.',
  ATOMIC_ERROR: 'Nothing was saved: mend the records with another code, and send all again.',
  AUTHENTICATION_FAILED: 'Check the API token or server key, its environment and origins.',
  AUTHENTICATION_REQUIRED: 'Let the user sign in, by the button or by signIn().',
  BAD_REQUEST: 'The reason says what is wrong with the request; mend that first.',
  CONFLICT: 'Apply your changes to serverRecord, which has the tag to save with, and save that.',
  EXISTS: 'Fetch what exists, and change that.',
  INTERNAL_ERROR: "Try again later; the server's log has more under this uuid.",
  NOT_FOUND: 'It was never there, was deleted, or is not shared with this user.',
  QUOTA_EXCEEDED: 'Delete something, or ask the people who run the server for more room.',
  THROTTLED: 'Wait for retryAfter seconds, and send fewer or larger requests.',
  TRY_AGAIN_LATER: 'Wait for retryAfter seconds, and send it again.',
  VALIDATING_REFERENCE_ERROR: 'Save what the record refers to first, or delete what refers to it.',
  ZONE_NOT_FOUND: 'Create the zone with saveRecordZones(), or forget it: it was deleted.',
  UNIQUE_FIELD_ERROR: 'Another record has this value: choose another one.',
  UNKNOWN_ERROR: 'The reason tells more.',
  NETWORK_ERROR: 'Nobody knows whether the request arrived: fetch before you send a write again.',
  SERVICE_UNAVAILABLE: 'Wait for retryAfter seconds if it is set, or a minute, and send it again.',
  INVALID_ARGUMENTS: 'Mend the call: the reason says what is wrong with it.',
  UNEXPECTED_SERVER_RESPONSE: 'Check serverURL, and what stands before the server.',
  CONFIGURATION_ERROR: 'Mend what CloudKit.configure() is given.',
  AUTH_PERSIST_ERROR: 'Allow cookies, set persist to false, or give an authTokenStore.',
  SIGN_IN_FAILED: 'Let the user try again.',
  SHARE_UI_TIMEOUT: 'Let the user try again.',
};

/** What a promise of this client rejects with, and what `errors` of a response holds. */
export class CKError extends Error {
  /** `facts`: the keys of an error of the server, or of `localError`. */
  constructor(facts) {
    const code = facts.ckErrorCode ?? facts.serverErrorCode;
    const reason = facts.reason ?? '';
    super(reason || code || 'unknown error');
    this.name = 'CKError';
    this.ckErrorCode = Object.hasOwn(remedies, code) ? code : 'UNKNOWN_ERROR';
    this.reason = reason;
    this.remedy = remedies[this.ckErrorCode];
    for (const key of ['serverErrorCode', 'extensionErrorCode', 'uuid', 'retryAfter', 'recordName',
      'zoneID', 'serverRecord', 'detail', 'changeTokenExpired']) {
      if (facts[key] != null) this[key] = facts[key];
    }
    const redirectURL = facts.redirectURL ?? facts.redirectUrl;
    if (redirectURL != null) this.redirectURL = redirectURL;
    const subscriptionID = facts.subscriptionID ?? facts.subscriptionId;
    if (subscriptionID != null) this.subscriptionID = subscriptionID;
    if (facts.cause) this.cause = facts.cause;
  }

  get isError() { return true; }
  get isCKError() { return true; }
  get isServerError() { return this.serverErrorCode != null; }
  get isServerExtensionError() { return this.extensionErrorCode != null; }
  /** Whether signing in, or in again, is what helps. */
  get isAuthError() { return this.ckErrorCode.startsWith('AUTHENTICATION_'); }

  toJSON() {
    const {cause, name, ...facts} = this;
    return facts;
  }

  toString() {
    const place = this.recordName ?? this.subscriptionID ?? this.zoneID?.zoneName;
    return `CKError ${this.ckErrorCode}${place ? ` (${place})` : ''}: ${this.reason}`;
  }
}

for (const code of Object.keys(remedies)) CKError[code] = code;

/** An error that arises in this program: one of the codes that no server sends. */
export function localError(ckErrorCode, reason, cause) {
  return new CKError({ckErrorCode, reason, cause});
}

/** Whether an item of an answer is an error in place of what was asked for. */
export function isFault(item) {
  return item?.serverErrorCode != null || item?.extensionErrorCode != null;
}
