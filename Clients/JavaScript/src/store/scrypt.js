// A key from a passphrase, slow to guess (RFC 7914): blocks of 1,024 bytes, one lane.

const words = 256;

/** `cost`: a power of two above 1; memory is 1 KiB times that. */
export async function scrypt(passphrase, salt, cost, count = 32) {
  const bytes = await stretched(passphrase, salt, words * 4);
  const view = new DataView(bytes.buffer);
  const block = Int32Array.from({length: words}, (_, index) => view.getInt32(index * 4, true));
  mixWithMemory(block, cost);
  block.forEach((word, index) => view.setInt32(index * 4, word, true));
  return stretched(passphrase, bytes, count);
}

/** PBKDF2 with HMAC-SHA-256 and one iteration. */
async function stretched(passphrase, salt, count) {
  const key = await crypto.subtle.importKey('raw', passphrase, 'PBKDF2', false, ['deriveBits']);
  return new Uint8Array(await crypto.subtle.deriveBits(
    {name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 1}, key, count * 8));
}

/** The RFC's scryptROMix. */
function mixWithMemory(block, cost) {
  const memory = new Int32Array(words * cost);
  const scratch = new Int32Array(words);
  for (let step = 0; step < cost; step++) {
    memory.set(block, step * words);
    mix(block, scratch);
  }
  for (let step = 0; step < cost; step++) {
    const start = (block[words - 16] & cost - 1) * words;
    for (let index = 0; index < words; index++) block[index] ^= memory[start + index];
    mix(block, scratch);
  }
}

const state = new Int32Array(16);

/** The RFC's scryptBlockMix: even parts go before odd ones. */
function mix(block, scratch) {
  state.set(block.subarray(words - 16));
  for (let part = 0; part < 16; part++) {
    for (let index = 0; index < 16; index++) state[index] ^= block[part * 16 + index];
    salsa(state);
    scratch.set(state, ((part >> 1) + (part & 1) * 8) * 16);
  }
  block.set(scratch);
}

/** Salsa20/8 in place, by variables: nearly all the time goes here. */
function salsa(state) {
  let a = state[0], b = state[1], c = state[2], d = state[3];
  let e = state[4], f = state[5], g = state[6], h = state[7];
  let i = state[8], j = state[9], k = state[10], l = state[11];
  let m = state[12], n = state[13], o = state[14], p = state[15];
  let word;
  for (let double = 0; double < 4; double++) {
    word = a + m | 0; e ^= word << 7 | word >>> 25;
    word = e + a | 0; i ^= word << 9 | word >>> 23;
    word = i + e | 0; m ^= word << 13 | word >>> 19;
    word = m + i | 0; a ^= word << 18 | word >>> 14;
    word = f + b | 0; j ^= word << 7 | word >>> 25;
    word = j + f | 0; n ^= word << 9 | word >>> 23;
    word = n + j | 0; b ^= word << 13 | word >>> 19;
    word = b + n | 0; f ^= word << 18 | word >>> 14;
    word = k + g | 0; o ^= word << 7 | word >>> 25;
    word = o + k | 0; c ^= word << 9 | word >>> 23;
    word = c + o | 0; g ^= word << 13 | word >>> 19;
    word = g + c | 0; k ^= word << 18 | word >>> 14;
    word = p + l | 0; d ^= word << 7 | word >>> 25;
    word = d + p | 0; h ^= word << 9 | word >>> 23;
    word = h + d | 0; l ^= word << 13 | word >>> 19;
    word = l + h | 0; p ^= word << 18 | word >>> 14;
    word = a + d | 0; b ^= word << 7 | word >>> 25;
    word = b + a | 0; c ^= word << 9 | word >>> 23;
    word = c + b | 0; d ^= word << 13 | word >>> 19;
    word = d + c | 0; a ^= word << 18 | word >>> 14;
    word = f + e | 0; g ^= word << 7 | word >>> 25;
    word = g + f | 0; h ^= word << 9 | word >>> 23;
    word = h + g | 0; e ^= word << 13 | word >>> 19;
    word = e + h | 0; f ^= word << 18 | word >>> 14;
    word = k + j | 0; l ^= word << 7 | word >>> 25;
    word = l + k | 0; i ^= word << 9 | word >>> 23;
    word = i + l | 0; j ^= word << 13 | word >>> 19;
    word = j + i | 0; k ^= word << 18 | word >>> 14;
    word = p + o | 0; m ^= word << 7 | word >>> 25;
    word = m + p | 0; n ^= word << 9 | word >>> 23;
    word = n + m | 0; o ^= word << 13 | word >>> 19;
    word = o + n | 0; p ^= word << 18 | word >>> 14;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  state[8] += i; state[9] += j; state[10] += k; state[11] += l;
  state[12] += m; state[13] += n; state[14] += o; state[15] += p;
}
