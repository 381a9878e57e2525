// Where a device keeps what it knows: a journal of lists of facts, to which every tab of a page's
// origin appends. Appending is one transaction: a tab first reads what others have appended, decides
// by that, and appends its own. So all tabs see one order, and a list is there whole or not at all.

import {StoreError} from './errors.js';

const journalName = 'journal';
const fileStoreName = 'files';

/** For as long as the program runs; facts never change, so they are kept as they are. */
export class MemoryJournal {
  isPersistent = false;
  #rows = [];
  #key = 0;
  #files = new Map();

  /** As `IndexedJournal.transact`. */
  async transact(after, decide) {
    const {lists, isWhole} = decide(await this.read(after));
    if (isWhole) this.#rows = [];
    for (const list of lists) this.#rows.push({key: ++this.#key, list});
    return this.#key;
  }

  async read(after) {
    // Most often there is nothing new.
    return after === this.#key ? [] : this.#rows.filter(({key}) => key > after);
  }

  async file(name) { return this.#files.get(name); }
  async files() { return [...this.#files.values()]; }
  async putFile(file) { this.#files.set(file.name, file); }
  async deleteFile(name) { this.#files.delete(name); }
  close() {}
}

/** In a database of the browser. */
export class IndexedJournal {
  isPersistent = true;
  #database;

  /** Rejects where the browser keeps no databases. */
  static async open(name) {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(journalName, {keyPath: 'key', autoIncrement: true});
      opening.result.createObjectStore(fileStoreName, {keyPath: 'name'});
    };
    return new IndexedJournal(await resultOf(opening));
  }

  constructor(database) {
    this.#database = database;
    database.onversionchange = () => database.close();
  }

  /**
   * Appends what `decide` makes of the rows after a key, in one transaction.
   *
   * `decide` gets and returns lists of facts: rows `{key, list}` and `{lists, isWhole}`; with `isWhole` they take the place of all before them.
   * Resolves with the key of the last row, once all is kept.
   */
  transact(after, decide) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(journalName, 'readwrite');
      const rows = transaction.objectStore(journalName);
      let last = after;
      let failure;
      const note = ({target}) => { last = target.result; };
      rows.getAll(IDBKeyRange.lowerBound(after, true)).onsuccess = ({target}) => {
        try {
          last = target.result.at(-1)?.key ?? after;
          const {lists, isWhole} = decide(target.result.map(opened));
          if (isWhole) rows.delete(IDBKeyRange.upperBound(last));
          for (const list of lists) rows.add({text: JSON.stringify(list)}).onsuccess = note;
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(last);
      transaction.onabort = () => reject(storageError(failure ?? transaction.error));
    });
  }

  async read(after) {
    const range = IDBKeyRange.lowerBound(after, true);
    return (await this.#get(journalName, rows => rows.getAll(range))).map(opened);
  }

  file(name) { return this.#get(fileStoreName, files => files.get(name)); }
  files() { return this.#get(fileStoreName, files => files.getAll()); }
  putFile(file) { return this.#change(files => files.put(file)); }
  deleteFile(name) { return this.#change(files => files.delete(name)); }
  close() { this.#database.close(); }

  #get(name, ask) {
    return resultOf(ask(this.#database.transaction(name).objectStore(name)));
  }

  #change(act) {
    return new Promise((resolve, reject) => {
      const transaction = this.#database.transaction(fileStoreName, 'readwrite');
      act(transaction.objectStore(fileStoreName));
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(storageError(transaction.error));
    });
  }
}

/** A row as it is read; its text, which is kept faster than objects, only where somebody asks. */
function opened({key, text}) {
  return {key, get list() { return JSON.parse(text); }};
}

function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(storageError(request.error));
  });
}

function storageError(error) {
  return error?.name === 'QuotaExceededError'
    ? new StoreError('STORAGE_FULL', 'the browser has no more room for this site', error) : error;
}
