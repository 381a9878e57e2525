// The state of this tab, and the journal behind it. Code that changes something hands in a function
// that decides by the newest state, in the transaction that keeps what it decides.

import {StoreError} from './errors.js';
import {State} from './state.js';

const rowsMax = 1000;
const goneMax = 1000;

export class Replica {
  /** Called with the records that have changed. */
  onChange = () => {};
  /** Called when this tab has appended. */
  onAppend = () => {};
  state = new State();
  #journal;
  #key = 0;
  #rows = 0;
  /** Records that rows have told of, also those that later rows tell of again. */
  #told = 0;
  #waiting = [];
  #isRunning = false;
  #isShortening = false;
  #isClosed = false;

  constructor(journal) {
    this.#journal = journal;
  }

  async load() {
    this.#take(await this.#journal.read(this.#key));
    this.onChange(this.state.takeChanges());
  }

  /**
   * Keeps the facts that `decide` makes of the state; nothing where it makes none.
   *
   * Resolves once they are kept. Rejects with STORAGE_FULL, and with what `decide` throws.
   */
  change(decide) {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new StoreError('CLOSED', 'the store is closed'));
      this.#waiting.push({decide, resolve, reject});
      if (!this.#isRunning) this.#run();
    });
  }

  /** Another tab has appended. */
  refresh() {
    return this.change(() => undefined);
  }

  /** Forgets everything, also what the journal has kept; then keeps `facts`. */
  async erase(facts = {}) {
    this.#isShortening = true;
    await this.change(() => ({reset: true, ...facts}));
  }

  /** Makes the journal as short as what it says, where it has become long. */
  async shorten() {
    const {count} = this.state;
    if (this.#rows <= rowsMax + count / 20 && this.#told - count <= goneMax + count) return;
    this.#isShortening = true;
    await this.refresh();
  }

  close() {
    this.#isClosed = true;
    this.#journal.close();
  }

  async #run() {
    this.#isRunning = true;
    // Calls of one task go together.
    await undefined;
    while (this.#waiting.length > 0) await this.#runOnce(this.#waiting.splice(0));
    this.#isRunning = false;
  }

  async #runOnce(calls) {
    const failed = new Map();
    let hasAppended = false;
    try {
      this.#key = await this.#journal.transact(this.#key, rows => {
        this.#take(rows);
        const facts = calls.map(call => this.#decided(call, failed)).filter(Boolean);
        hasAppended = facts.length > 0 || this.#isShortening;
        if (this.#isShortening) return this.#shortened();
        if (hasAppended) this.#rows += 1;
        return {lists: hasAppended ? [facts] : []};
      });
    } catch (error) {
      await this.#reload(error, calls);
      return;
    }
    this.onChange(this.state.takeChanges());
    if (hasAppended) this.onAppend();
    for (const call of calls) {
      if (failed.has(call)) call.reject(failed.get(call));
      else call.resolve();
    }
  }

  #shortened() {
    this.#isShortening = false;
    const snapshot = this.state.snapshot();
    Object.assign(snapshot[0], {isOf: this.#key, rows: snapshot.length});
    this.#rows = snapshot.length;
    this.#told = this.state.count;
    return {lists: snapshot.map(facts => [facts]), isWhole: true};
  }

  #decided(call, failed) {
    try {
      const facts = call.decide(this.state);
      if (facts) this.#apply(facts);
      return facts;
    } catch (error) {
      failed.set(call, error);
      return undefined;
    }
  }

  /** Nothing was kept: the state is what the journal says. */
  async #reload(error, calls) {
    const rows = await this.#journal.read(0).catch(() => null);
    if (rows) {
      this.state.apply({reset: true});
      this.#take(rows);
      this.onChange(this.state.takeChanges());
    }
    for (const call of calls) call.reject(error);
  }

  #take(rows) {
    // The rows of a snapshot of what this tab knows already.
    let known = 0;
    for (const row of rows) {
      if (known > 0) known -= 1;
      else known = this.#takeList(row.list);
      this.#rows += 1;
      this.#key = row.key;
    }
  }

  /** How many of the next rows this tab knows already. */
  #takeList(list) {
    if (list[0]?.isOf === this.#key && this.#key > 0) return list[0].rows - 1;
    list.forEach(facts => this.#apply(facts));
    return 0;
  }

  #apply(facts) {
    if (facts.reset) this.#told = this.#rows = 0;
    this.#told += facts.records?.length ?? 0;
    this.state.apply(facts);
  }
}
