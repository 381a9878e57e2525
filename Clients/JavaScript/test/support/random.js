// Numbers for tests, which a seed decides.

export const seed = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000_000);

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomOf(start) {
  let state = start;
  return () => {
    state = state + 0x6D2B79F5 | 0;
    let mixed = Math.imul(state ^ state >>> 15, 1 | state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 4294967296;
  };
}
