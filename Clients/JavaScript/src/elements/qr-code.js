// A text as a QR code (ISO/IEC 18004): bytes, versions 1 to 10, error correction of level M.

/** Of each version: bytes of correction of a block, bytes of data block by block, small squares. */
const versions = [
  [10, [16], []], [16, [28], [6, 18]], [26, [44], [6, 22]], [18, [32, 32], [6, 26]],
  [24, [43, 43], [6, 30]], [16, [27, 27, 27, 27], [6, 34]], [18, [31, 31, 31, 31], [6, 22, 38]],
  [22, [38, 38, 39, 39], [6, 24, 42]], [22, [36, 36, 36, 37, 37], [6, 26, 46]],
  [26, [43, 43, 43, 43, 44], [6, 28, 50]],
].map(([correction, blocks, alignments], index) => ({
  number: index + 1, size: 21 + 4 * index, correction, blocks, alignments,
  bytes: blocks.reduce((sum, count) => sum + count), lengthBits: index < 9 ? 8 : 16,
}));

/** The rows of a code, each an array of whether its modules are dark; null for a text too long. */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = versions.find(each => 4 + each.lengthBits + 8 * bytes.length <= 8 * each.bytes);
  if (!version) return null;
  const words = codewords(bytes, version);
  const codes = Array.from({length: 8}, (_, mask) => {
    const square = new Square(version);
    square.place(words, mask);
    square.placeFormat(mask);
    return {rows: square.rows, penalty: penaltyOf(square.rows)};
  });
  return codes.reduce((best, next) => next.penalty < best.penalty ? next : best).rows;
}

/** The text in its frame, in blocks, each with its correction, in the order of their placing. */
function codewords(text, {bytes: capacity, lengthBits, blocks, correction}) {
  const bits = [];
  const put = (value, count) => {
    for (let shift = count - 1; shift >= 0; shift--) bits.push(value >> shift & 1);
  };
  put(4, 4);
  put(text.length, lengthBits);
  text.forEach(byte => put(byte, 8));
  put(0, Math.min(4, 8 * capacity - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = [];
  for (let at = 0; at < bits.length; at += 8) {
    data.push(bits.slice(at, at + 8).reduce((byte, bit) => byte << 1 | bit));
  }
  for (let filler = 0xec; data.length < capacity; filler ^= 0xec ^ 0x11) data.push(filler);
  const parts = blocks.map(count => data.splice(0, count));
  const interleaved = all => Array.from({length: Math.max(...all.map(({length}) => length))},
    (_, index) => all.filter(part => index < part.length).map(part => part[index])).flat();
  return [...interleaved(parts), ...interleaved(parts.map(part => corrected(part, correction)))];
}

const powers = [1];
while (powers.length < 255) {
  const next = powers.at(-1) << 1;
  powers.push(next > 255 ? next ^ 0x11d : next);
}
const product = (left, right) => left && right
  && powers[(powers.indexOf(left) + powers.indexOf(right)) % 255];

/** The rest of a division of polynomials: the code of Reed and Solomon. */
function corrected(data, count) {
  let divisor = [1];
  for (let power = 0; power < count; power++) {
    const next = [...divisor, 0];
    divisor.forEach((factor, index) => { next[index + 1] ^= product(factor, powers[power]); });
    divisor = next;
  }
  const rest = [...data, ...new Array(count).fill(0)];
  data.forEach((_, index) => {
    const factor = rest[index];
    divisor.forEach((other, offset) => { rest[index + offset] ^= product(other, factor); });
  });
  return rest.slice(-count);
}

const masks = [
  (row, column) => (row + column) % 2, row => row % 2, (_, column) => column % 3,
  (row, column) => (row + column) % 3, (row, column) => ((row >> 1) + Math.floor(column / 3)) % 2,
  (row, column) => row * column % 2 + row * column % 3,
  (row, column) => (row * column % 2 + row * column % 3) % 2,
  (row, column) => ((row + column) % 2 + row * column % 3) % 2,
];

/** The modules: `rows` says which are dark, `fixed` which belong to a pattern. */
class Square {
  constructor(version) {
    this.size = version.size;
    this.rows = Array.from({length: this.size}, () => new Array(this.size).fill(false));
    this.fixed = Array.from({length: this.size}, () => new Array(this.size).fill(false));
    this.#placeFinders();
    for (let offset = 8; offset < this.size - 8; offset++) {
      this.#set(6, offset, offset % 2 === 0);
      this.#set(offset, 6, offset % 2 === 0);
    }
    this.#placeAlignments(version.alignments);
    this.placeFormat(0);
    this.#placeVersion(version.number);
  }

  #set(row, column, isDark) {
    if (!(row in this.rows) || !(column in this.rows)) return;
    this.rows[row][column] = isDark;
    this.fixed[row][column] = true;
  }

  #placeFinders() {
    for (const [top, left] of [[0, 0], [0, this.size - 7], [this.size - 7, 0]]) {
      for (let row = -1; row < 8; row++) {
        for (let column = -1; column < 8; column++) {
          const distance = Math.max(Math.abs(row - 3), Math.abs(column - 3));
          this.#set(top + row, left + column, distance !== 2 && distance !== 4);
        }
      }
    }
  }

  #placeAlignments(centres) {
    const last = centres.at(-1);
    for (const row of centres) {
      for (const column of centres) {
        const corners = [[6, 6], [6, last], [last, 6]];
        if (corners.some(([down, right]) => row === down && column === right)) continue;
        for (let down = -2; down < 3; down++) {
          for (let right = -2; right < 3; right++) {
            this.#set(row + down, column + right, Math.max(Math.abs(down), Math.abs(right)) !== 1);
          }
        }
      }
    }
  }

  #placeVersion(number) {
    if (number < 7) return;
    const bits = withRest(number, 0x1f25, 12);
    for (let index = 0; index < 18; index++) {
      const isDark = Boolean(bits >> index & 1);
      this.#set(this.size - 11 + index % 3, Math.floor(index / 3), isDark);
      this.#set(Math.floor(index / 3), this.size - 11 + index % 3, isDark);
    }
  }

  /** The level and the mask, twice. */
  placeFormat(mask) {
    const bits = withRest(mask, 0x537, 10) ^ 0x5412;
    for (let index = 0; index < 15; index++) {
      const isDark = Boolean(bits >> index & 1);
      this.#set(index < 6 ? index : index < 8 ? index + 1 : this.size - 15 + index, 8, isDark);
      this.#set(8, index < 8 ? this.size - 1 - index : index < 9 ? 7 : 14 - index, isDark);
    }
    this.#set(this.size - 8, 8, true);
  }

  /** Puts the bytes in, in columns of two from the right, up and down. */
  place(words, mask) {
    let index = 0;
    let isUpward = true;
    for (let right = this.size - 1; right > 0; right -= 2, isUpward = !isUpward) {
      if (right === 6) right--;
      for (let step = 0; step < this.size; step++) {
        const row = isUpward ? this.size - 1 - step : step;
        for (const column of [right, right - 1]) {
          if (this.fixed[row][column]) continue;
          const bit = words[index >> 3] >> 7 - index % 8 & 1;
          this.rows[row][column] = Boolean(bit) !== (masks[mask](row, column) === 0);
          index++;
        }
      }
    }
  }
}

/** A number with the rest of its division behind it. */
function withRest(number, divisor, bits) {
  let rest = number << bits;
  for (let top = 31; top >= bits; top--) {
    if (rest >> top & 1) rest ^= divisor << top - bits;
  }
  return number << bits | rest;
}

/** How hard a code is to read: of the masks the one with the least is taken. */
function penaltyOf(rows) {
  const columns = rows.map((_, index) => rows.map(row => row[index]));
  const lines = [...rows, ...columns].map(line => line.map(Number).join(''));
  let sum = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    sum += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let row = 1; row < rows.length; row++) {
    for (let column = 1; column < rows.length; column++) {
      const first = rows[row][column];
      if (rows[row - 1][column] === first && rows[row][column - 1] === first &&
        rows[row - 1][column - 1] === first) sum += 3;
    }
  }
  const dark = rows.flat().filter(Boolean).length;
  return sum + Math.floor(Math.abs(20 * dark / rows.length ** 2 - 10)) * 10;
}
