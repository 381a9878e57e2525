// Many changes of records in one request.

import {list, recordNameOf} from './values.js';

/** Collects operations; `commit` sends them. Each method but that one returns the builder. */
export class RecordsBatchBuilder {
  #commit;
  #operations = [];

  /** `commit` sends the operations. */
  constructor(commit) {
    this.#commit = commit;
  }

  create(records, options) { return this.#save('create', records, options); }
  update(records, options) { return this.#save('update', records, options); }
  forceUpdate(records, options) { return this.#save('forceUpdate', records, options); }
  replace(records, options) { return this.#save('replace', records, options); }
  forceReplace(records, options) { return this.#save('forceReplace', records, options); }
  delete(records) { return this.#delete('delete', records); }
  forceDelete(records) { return this.#delete('forceDelete', records); }

  /** Creates records without a change tag and updates the others. */
  createOrUpdate(records, options) {
    for (const record of list(records)) {
      this.#save(record?.recordChangeTag ? 'update' : 'create', record, options);
    }
    return this;
  }

  commit() {
    return this.#commit(this.#operations);
  }

  #save(operationType, records, {desiredKeys} = {}) {
    for (const record of list(records)) {
      this.#operations.push({operationType, record, desiredKeys});
    }
    return this;
  }

  #delete(operationType, records) {
    for (const record of list(records)) {
      const {recordChangeTag} = record;
      this.#operations.push({
        operationType, record: {recordName: recordNameOf(record), recordChangeTag},
      });
    }
    return this;
  }
}
