// Functions of the app that are told something.

/** Calls each with a value; one that throws holds nothing up, and is told of like other errors. */
export function callAll(listeners, value) {
  for (const listener of [...listeners]) {
    try {
      listener(value);
    } catch (error) {
      if (typeof reportError === 'function') reportError(error);
      else console.error(error);
    }
  }
}
