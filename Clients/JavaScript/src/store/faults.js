// What the server says went wrong, and what follows from it.

/** Worth another try, as it is. */
const passing = new Set([
  'TRY_AGAIN_LATER', 'THROTTLED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE', 'ATOMIC_ERROR',
]);

/** An item of an answer as the error that it is. */
export function faultOf({serverErrorCode, reason, ...facts}) {
  return Object.assign(new Error(reason), {ckErrorCode: serverErrorCode, reason, ...facts});
}

/** Whether the server knows nothing of a token, or nothing any more. */
export function isTokenRefused({ckErrorCode, changeTokenExpired, reason = ''}) {
  return ckErrorCode === 'BAD_REQUEST' &&
    (changeTokenExpired === true || reason.includes('Unknown sync continuation'));
}

export function isPassing({ckErrorCode}) { return passing.has(ckErrorCode); }
