// Names that nothing else has.

/** 122 random bits as a UUID. `randomUUID` is missing in pages that came by plain HTTP. */
export function uniqueID() {
  if (globalThis.crypto?.randomUUID) return crypto.randomUUID();
  const bytes = randomBytes(16);
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  const digits = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function randomBytes(count) {
  const bytes = new Uint8Array(count);
  // Node 18 has no crypto among its globals; that no two are the same is all that counts here.
  return globalThis.crypto ? crypto.getRandomValues(bytes)
    : bytes.map(() => Math.floor(Math.random() * 256));
}
