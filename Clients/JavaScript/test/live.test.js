import assert from 'node:assert/strict';
import {describe, test} from 'node:test';
import {LiveQuery} from '../src/store/live.js';
import {Orderings} from '../src/store/orderings.js';
import {State} from '../src/store/state.js';

const seed = Number(process.env.MODEL_SEED ?? Date.now() % 1_000_000);

/** Numbers that come again for the same seed. */
function numbers(start) {
  let state = start >>> 0;
  return below => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x6d2b79f5 >>> 0;
    return (state ^ state >>> 13) % below;
  };
}

const rank = ({fields}) => fields.rank.value;
const queries = [
  {}, {limit: 3}, {recordType: 'Note', sortBy: [{fieldName: 'rank'}], limit: 20},
  {sortBy: [{fieldName: 'rank', ascending: false}]}, {where: ({fields}) => fields.done, limit: 5},
  {sortBy: [{systemFieldName: 'modifiedTimestamp'}, {fieldName: 'rank'}]},
  {sortBy: (one, other) => rank(one) - rank(other), limit: 7}, {sortBy: [{fieldName: 'missing'}], limit: 9},
];

const record = (recordName, next) => ['k', recordName, next(4) === 0 ? null : {server: {
  recordName, recordType: next(5) === 0 ? 'Other' : 'Note', recordChangeTag: '1', created: {timestamp: 1},
  modified: {timestamp: next(20)}, fields: {rank: {value: next(50)}, done: next(2) === 0 ? undefined : {value: 1}},
}}];

describe('the orders of live queries', () => {
  test(`say what sorting anew says, however records change (seed ${seed})`, () => {
    const next = numbers(seed);
    const state = new State();
    state.apply({zones: [['k', {scope: 'PRIVATE', zoneID: {zoneName: 'z'}, token: null}]]});
    const orderings = new Orderings(state);
    const open = query => new LiveQuery({state, orderings}, query, () => {});
    const lives = queries.map(open);
    for (let step = 0; step < 300; step++) {
      const count = step % 50 === 20 ? 400 : next(5);
      state.apply({records: Array.from({length: count}, () => record(`r${next(step < 100 ? 20 : 400)}`, next))});
      // One that is opened when a change is known, but not told yet.
      const late = open(queries[step % queries.length]);
      const changes = state.takeChanges();
      orderings.update(changes);
      [...lives, late].forEach(live => live.update(changes));
      const names = live => live.records.map(({recordName}) => recordName);
      queries.forEach((query, index) => {
        const plain = new LiveQuery({state, orderings: {items: () => null}}, query, () => {});
        for (const live of [lives[index], open(query), ...index === step % queries.length ? [late] : []]) {
          assert.deepEqual(names(live), names(plain), `step ${step}, query ${index}`);
        }
      });
    }
  });

  test('are kept: another query of the same order looks at no more than it shows', () => {
    const state = new State();
    state.apply({zones: [['k', {scope: 'PRIVATE', zoneID: {zoneName: 'z'}, token: null}]]});
    const next = numbers(1);
    state.apply({records: Array.from({length: 1000}, (_, index) => record(`r${index}`, () => next(1000) + 1))});
    const orderings = new Orderings(state);
    let looked = 0;
    const where = () => { looked += 1; return true; };
    for (let round = 0; round < 2; round++) {
      looked = 0;
      const live = new LiveQuery({state, orderings}, {sortBy: [{fieldName: 'rank'}], where, limit: 10}, () => {});
      assert.equal(live.records.length, 10);
      assert.equal(looked, 10);
    }
  });
});
