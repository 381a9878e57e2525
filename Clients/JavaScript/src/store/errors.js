// What goes wrong on the device itself. What the server says are errors of cloudkit.js.

const remedies = {
  STORAGE_FULL: 'Free some room on the device; nothing of this call was kept.',
  UNSENT_CHANGES: 'Wait for sync(), or sign out with {force: true} and lose them.',
  MERGE_FAILED: 'Mend the function that merges, and retry() the record.',
  LOCKED: 'Unlock the encrypted values of this device.',
  WRONG_SECRET: 'Ask for the passphrase or recovery code again.',
  NOT_FOUND: 'It is not on this device.',
  INVALID_ARGUMENTS: 'Mend the call: the reason says what is wrong with it.',
  CLOSED: 'Open the store again.',
};

export class StoreError extends Error {
  constructor(code, reason, cause) {
    super(reason, {cause});
    this.name = 'StoreError';
    this.code = code;
    this.remedy = remedies[code];
  }
}
