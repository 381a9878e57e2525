import assert from 'node:assert/strict';
import {webcrypto} from 'node:crypto';
import {describe, test} from 'node:test';
import {uniqueID} from '../src/unique.js';

describe('names that are made up', () => {
  test('are UUIDs, and no two the same, wherever there is little to make them of', () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
    const random = {getRandomValues: bytes => webcrypto.getRandomValues(bytes)};
    try {
      for (const value of [webcrypto, random, undefined]) {
        Object.defineProperty(globalThis, 'crypto', {value, configurable: true, writable: true});
        const made = Array.from({length: 1000}, uniqueID);
        assert.equal(new Set(made).size, 1000);
        for (const id of made) {
          assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        }
      }
    } finally {
      if (own) Object.defineProperty(globalThis, 'crypto', own);
      else delete globalThis.crypto;
    }
  });
});
