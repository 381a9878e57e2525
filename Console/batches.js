// What is done with the records of a database, with one or with many: changed, with what of it can be undone, deleted, and brought
// out of the browser and into it.

import {Asking, button, bytes, confirm, download, give, html, many, nothing, parse, run, say, to, upload} from './screen.js';
import {read} from './values.js';

const PAGE = 200;
const FILE_PAGE = 500;
const RECORDS_MAX = 200_000;
/// So many of those that failed are named.
const FAILURES_MAX = 20;

/// Why something ended too early.
const why = failure => failure.name === 'AbortError' ? 'Stopped.' : failure.message;

/// Who acts as somebody takes tables of that person's private database alone.
function requireOne({user, database}) {
  if (user && database === 'public') throw new Error('Stop acting first: the public database is nobody’s.');
}

/// Fetches page by page, and hands the browser a file.
async function exportRecords({format, target, type, sort, filters, signal, tell}) {
  const name = `${target.container}-${target.database}-${type ?? 'records'}`;
  if (format === 'csv') {
    requireOne(target);
    const {container, environment, user, zone} = target;
    const table = await download('export', {container, environment, user, zone: zone ?? '_defaultZone', type, format,
      filter: filters.length ? filters : undefined}, {signal, tell: count => tell(`${bytes(count)}…`)});
    give(`${name}.csv`, 'text/csv', [table]);
    return {text: `${name}.csv has ${bytes(table.size)}.`, failed: []};
  }
  const isQuery = Boolean(type && (filters.length || sort));
  const lines = [];
  let [after, damaged] = [undefined, 0];
  do {
    const page = await run(isQuery ? 'record query' : 'record list', {
      ...target, type, limit: FILE_PAGE, after, filter: filters.length ? filters : undefined,
      'sort-by': isQuery && sort ? [sort] : undefined}, {signal});
    lines.push(...page.records.map(record => JSON.stringify(record)));
    after = page.after;
    damaged += page.damaged ?? 0;
    tell(`${lines.length} records…`);
  } while (after && lines.length < RECORDS_MAX);
  give(`${name}.jsonl`, 'application/jsonl', [`${lines.join('\n')}\n`]);
  return {text: `${lines.length} records are in ${name}.jsonl${damaged ? `; ${damaged} that are damaged are not` : ''}.${after
    ? ' There are more: take lenticular export for so many.' : ''}`, failed: []};
}

/// Saves the records of a file, by hundreds. Those that exist get the fields given. Where it was cut short, it goes on when this
/// tab is given the same file again.
async function importRecords({target, type, file, signal, tell}) {
  if (/\.csv$/i.test(file.name)) return importTable({target, type, file, signal});
  const text = (await file.text()).trim();
  let records;
  try {
    const whole = text.startsWith('[') ? parse(text) : null;
    records = whole ?? text.split('\n').filter(line => line.trim()).map((line, index) => {
      try { return parse(line); } catch { throw new Error(`line ${index + 1} is no JSON`); }
    });
  } catch (error) {
    throw new Error(`${file.name}: ${error.message}. Nothing was saved.`);
  }
  records = records.filter(({recordName, recordType, fields}) => recordName || recordType || fields);
  const key = `imported ${JSON.stringify([target, file.name, file.size, file.lastModified])}`;
  const begun = JSON.parse(sessionStorage.getItem(key)) ?? {at: 0, count: 0, failed: []};
  let [{at, count, failed}, saved, broken, isOffline] = [begun, 0, '', false];
  try {
    while (at < records.length) {
      const part = records.slice(at, at + 100).map(({recordName, recordType, fields, parent}) => ({
        recordName, recordType, fields, parent}));
      const answer = await run('record save', {...target, file: JSON.stringify(part)}, {signal});
      const wrong = answer.records.filter(({serverErrorCode}) => serverErrorCode);
      at += part.length;
      count += wrong.length;
      saved += part.length - wrong.length;
      failed = [...failed, ...wrong.map(({recordName, reason}) => `${recordName}: ${reason}`)].slice(0, FAILURES_MAX);
      sessionStorage.setItem(key, JSON.stringify({at, count, failed}));
      tell(`${at} of ${records.length} records…`, at / records.length);
    }
    sessionStorage.removeItem(key);
  } catch (failure) {
    broken = `${why(failure)} `;
    isOffline = failure.code === 'OFFLINE';
  }
  return {failed, isOffline, text: `${broken}${saved} records are saved${begun.at ? `, and ${begun.at} were read before` : ''}${
    count ? `, ${count} are not` : ''}.${broken ? ' Import the file again to go on.' : ''}`};
}

/// Saves the rows of a table, whole: the server reads it.
async function importTable({target, type, file, signal}) {
  const {container, environment, database, user, zone} = target;
  requireOne(target);
  if (database === 'shared') throw new Error('A table goes into a public or a private database.');
  if (!type) throw new Error('Choose the record type of the table first.');
  let answer;
  try {
    answer = await upload('import', {container, environment, user, zone, type, format: 'csv', update: true}, file, {signal});
  } catch (failure) {
    // A refusal has an answer, and nothing was saved.
    if (failure.status) throw failure;
    return {text: `${why(failure)} Some records may be saved: import the table again.`, failed: [], isOffline: failure.code === 'OFFLINE'};
  }
  return {text: `${answer.records} records are saved${answer.failed ? `, ${answer.failed} are not` : ''}.`,
    failed: (answer.failures ?? []).map(({recordName, reason}) => `${recordName}: ${reason}`)};
}

/// A zone of a database, to tell it from others.
const keyOf = ({zone = '_defaultZone', ...around}) => JSON.stringify([zone, around]);

/// The properties that such a screen has.
export const BATCHES = ['selected', 'undos', 'undoing', 'outcome', 'progress'];

/// A screen of `records` in its `target`, some of them `selected`. Its subclass looks for them.
export class RecordBatches extends Asking {
  constructor() {
    super();
    Object.assign(this, {selected: new Set(), undos: []});
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.progress?.stop();
  }

  loses(address) {
    return this.progress && !address.startsWith(to('data')) && {title: 'Stop it and leave?',
      text: 'What was done by then stays. An import goes on when the same file is imported again.'};
  }

  /// What is under way, and what came of it.
  told() {
    return html`${this.progress ? html`<p role="status" class="note">${this.progress.text}
      <progress max="1" .value=${this.progress.share ?? 0} aria-label="Progress"></progress>
      ${button('Stop', () => this.progress.stop())}</p>` : nothing}
      ${this.outcome ? html`<div class=${this.outcome.failed.length ? 'problem' : 'note'} role="status">
        <p>${this.outcome.text}</p>${this.outcome.failed.length ? html`<ul>${this.outcome.failed.slice(0, 20).map(
          text => html`<li>${text}</li>`)}</ul>` : nothing}
        ${button('Close', () => { this.outcome = null; })}</div>` : nothing}`;
  }

  /// One field of one record, from the grid.
  async edit({row, column, text}) {
    const {name, type} = column.field;
    let value;
    try { value = read(type, text, row.fields?.[name]?.value); } catch (error) {
      this.outcome = {text: `${row.recordName}: ${name} is not changed`, failed: [`expected ${error.message}`]};
      return;
    }
    const {target} = this;
    const {saved} = await this.#save([{...this.#identity(row), fields: {[name]: {value, type}}}]);
    this.#remember(target, saved, [{
      name: row.recordName, type: row.recordType, fields: {[name]: row.fields?.[name] ?? {value: null}}}]);
  }

  /// Whether a target is still the one that is shown.
  #isHere(target) { return this.isConnected && keyOf(target) === keyOf(this.target); }

  #identity({recordName, recordType, recordChangeTag}) { return {recordName, recordType, recordChangeTag}; }

  /// Does something with many, a part at a time, which can be stopped between two; what went wrong, if anything did.
  async #parts(items, text, act) {
    const {signal, tell} = items.length > PAGE ? this.begin(text) : {};
    try {
      for (let at = 0; at < items.length; at += PAGE) {
        signal?.throwIfAborted();
        await act(items.slice(at, at + PAGE));
        tell?.(text, (at + PAGE) / items.length);
      }
    } catch (failure) {
      return failure;
    } finally {
      if (signal) this.progress = null;
    }
  }

  /// Saves some fields of records: which are saved, and which are not, which is said.
  async #save(records) {
    const {target} = this;
    const [saved, failed] = [[], []];
    this.outcome = null;
    const failure = await this.#parts(records, 'Saving…', async part => {
      const answer = await run('record save', {...target, file: JSON.stringify(part)});
      for (const record of answer.records) {
        (record.serverErrorCode ? failed : saved).push(record);
        const now = record.serverErrorCode ? record.serverRecord : record;
        if (now && this.#isHere(target)) this.#took(now);
      }
    });
    // Who undoes after a conflict has seen the other version.
    this.#noteTags(target, [...saved, ...failed.flatMap(({serverRecord}) => serverRecord ?? [])]);
    if (!this.#isHere(target)) {
      if (failure) say(`${why(failure)} ${saved.length} of ${records.length} records are changed.`);
    } else if (failure || failed.length) {
      const isUnknown = ['OFFLINE', 'FAILED'].includes(failure?.code);
      this.outcome = {text: failure ? why(failure) : failed.some(({serverErrorCode}) => serverErrorCode === 'CONFLICT')
        ? 'Somebody else has changed this meanwhile. You see their version now: look, and change it again.'
        : `${failed.length} of ${records.length} records are not changed.`,
      failed: [...!failure ? [] : [saved.length ? `${saved.length} of ${records.length} records are changed${isUnknown ? ', or more' : ''}.`
        : isUnknown ? 'It may be changed: look again.' : 'Nothing was changed.'],
      ...failed.map(({recordName, reason}) => `${recordName}: ${reason}`)]};
    } else {
      say('Saved.');
    }
    return {saved, failed};
  }

  /// Keeps what records had before they were saved, to be undone where they are.
  #remember(target, saved, before) {
    const tags = new Map(saved.map(record => [record.recordName, record.recordChangeTag]));
    const records = before.filter(({name}) => tags.has(name)).map(each => ({...each, tag: tags.get(each.name)}));
    if (records.length) this.undos = [...this.undos.slice(-49), {target, records}];
  }

  /// A step that is undone after another one meets the version that this has made.
  #noteTags(target, saved) {
    const tags = new Map(saved.map(record => [record.recordName, record.recordChangeTag]));
    for (const step of this.undos.filter(each => keyOf(each.target) === keyOf(target))) {
      for (const record of step.records) record.tag = tags.get(record.name) ?? record.tag;
    }
  }

  /// What was changed last in what is shown.
  get step() { return this.undos.findLast(({target}) => this.#isHere(target)); }

  /// Undoes a step; what of it could not be undone stays, but for records that are gone.
  async undo() {
    const step = this.step;
    this.undoing = true;
    const {saved, failed} = await this.#save(step.records.map(({name, type, fields, tag}) => ({
      recordName: name, recordType: type, recordChangeTag: tag, fields})));
    this.undoing = false;
    const done = new Set([...saved, ...failed.filter(({serverErrorCode}) => serverErrorCode === 'NOT_FOUND')].map(
      ({recordName}) => recordName));
    const records = step.records.filter(({name}) => !done.has(name));
    this.undos = this.undos.flatMap(each => each !== step ? each : records.length ? {...step, records} : []);
  }

  async editMany() {
    const dialog = document.createElement('fields-dialog');
    Object.assign(dialog, {count: this.selected.size, fields: this.fields(), done: async (field, value) => {
      dialog.remove();
      if (!field) return;
      const {target} = this;
      const rows = this.records.filter(({recordName}) => this.selected.has(recordName));
      const before = await this.#before(rows, field.name);
      if (!before || !this.#isHere(target)) return;
      const {saved} = await this.#save(rows.map(row => ({
        ...this.#identity(row), fields: {[field.name]: {value, type: field.type}}})));
      this.#remember(target, saved, before);
    }});
    document.body.append(dialog);
    addEventListener('addresschange', () => dialog.done(), {once: true});
  }

  /// What a field has before it is changed, for it to be brought back; null where that cannot be had. Long values are fetched,
  /// as the rows have them cut short.
  async #before(rows, name) {
    const cut = rows.filter(({fields}) => fields?.[name]?.whole !== undefined).map(({recordName}) => recordName);
    const whole = new Map();
    const {target} = this;
    try {
      for (let at = 0; at < cut.length; at += PAGE) {
        const {records} = await run('record get', {...target, name: cut.slice(at, at + PAGE)});
        for (const {recordName, fields} of records) whole.set(recordName, fields?.[name]);
      }
    } catch (failure) {
      this.outcome = {text: failure.message, failed: ['Nothing was changed.']};
      return null;
    }
    return rows.map(({recordName, recordType, fields}) => ({name: recordName, type: recordType,
      fields: {[name]: (whole.has(recordName) ? whole.get(recordName) : fields?.[name]) ?? {value: null}}}));
  }

  async delete(names) {
    const {target} = this;
    const meant = await confirm({
      title: `Delete ${many(names.length, 'record')}?`, act: 'Delete',
      typed: names.length > 20 ? String(names.length) : undefined,
      text: html`<p>Records that refer to them with DELETE_SELF go with them. It cannot be undone here.</p>`});
    // Who one acts as may have ended while the question stood.
    if (!meant || !this.#isHere(target)) return;
    this.outcome = null;
    let [count, failed] = [0, []];
    const failure = await this.#parts(names, 'Deleting…', async name => {
      const {records} = await run('record delete', {...target, name, yes: true});
      for (const {recordName, reason, deleted} of records) {
        if (!deleted) {
          failed.push(`${recordName}: ${reason}`);
          continue;
        }
        count += 1;
        this.lost(recordName, target);
      }
    });
    if (failure) failed = [why(failure), ...failed];
    if (failed.length) this.outcome = {text: `${count} of ${names.length} records are deleted.`, failed};
    else say('Deleted.');
  }

  /// What the record panel has saved; what it was before can be brought back.
  changed({record, before, target}) {
    if (this.#isHere(target)) this.#took(record);
    this.#noteTags(target, [record]);
    if (before) this.#remember(target, [record], [{name: record.recordName, type: record.recordType, fields: before}]);
  }

  #took(record) {
    const isKnown = this.records?.some(({recordName}) => recordName === record.recordName);
    if (isKnown) {
      this.records = this.records.map(each => each.recordName === record.recordName ? record : each);
    } else if (this.records) {
      this.records = [record, ...this.records];
    } else if (this.loading) {
      // What is on its way may be older.
      this.look();
    }
    if (record.recordType && this.schema && !Object.keys(record.fields ?? {}).every(
      name => this.schema.get(record.recordType)?.some(field => field.name === name))) this.lookAround();
  }

  lost(name, target) {
    if (!this.#isHere(target)) return;
    this.records = this.records?.filter(({recordName}) => recordName !== name);
    this.selected = new Set([...this.selected].filter(each => each !== name));
  }

  begin(text) {
    const control = new AbortController();
    this.progress = {text, stop: () => control.abort()};
    return {signal: control.signal, tell: (text, share) => { this.progress = {...this.progress, text, share}; }};
  }

  async export(event, format) {
    event.target.closest('details').open = false;
    this.outcome = null;
    const {type, sort} = this.values;
    try {
      this.outcome = await exportRecords({
        format, target: this.target, type, sort, filters: this.filterTexts(), ...this.begin('Exporting…')});
    } catch (failure) {
      this.outcome = {text: why(failure), failed: []};
    }
    this.progress = null;
  }

  async import(input) {
    const [file] = input.files;
    if (!file) return;
    this.outcome = null;
    try {
      this.outcome = await importRecords({target: this.target, type: this.values.type, file, ...this.begin(`Importing ${file.name}…`)});
    } catch (failure) {
      this.outcome = {text: why(failure), failed: []};
    }
    input.value = '';
    this.progress = null;
    // To look for more would take away what was said, and the way to go on.
    if (this.outcome.isOffline || !this.isConnected) return;
    this.lookAround();
    this.look();
  }
}
