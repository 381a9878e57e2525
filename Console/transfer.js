// Records in and out of the browser: the filtered set as JSON lines, and lines saved again.

import {bytes, download, run, upload} from './screen.js';
import {parse} from './json.js';

const PAGE = 500;
const RECORDS_MAX = 200_000;

/// Hands the browser a file.
export function give(name, type, parts) {
  const address = URL.createObjectURL(new Blob(parts, {type}));
  const link = document.createElement('a');
  Object.assign(link, {href: address, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/// Who acts as somebody takes tables of that person's private database alone.
function requireOne({user, database}) {
  if (user && database === 'public') throw new Error('Stop acting first: the public database is nobody’s.');
}

/// Fetches page by page, and hands the browser a file.
export async function exportRecords({format, target, type, sort, filters, signal, tell}) {
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
  let after;
  do {
    const page = await run(isQuery ? 'record query' : 'record list', {
      ...target, type, limit: PAGE, after, filter: filters.length ? filters : undefined,
      'sort-by': isQuery && sort ? [sort] : undefined}, {signal});
    lines.push(...page.records.map(record => JSON.stringify(record)));
    after = page.after;
    tell(`${lines.length} records…`);
  } while (after && lines.length < RECORDS_MAX);
  give(`${name}.jsonl`, 'application/jsonl', [`${lines.join('\n')}\n`]);
  return {text: `${lines.length} records are in ${name}.jsonl.${after
    ? ' There are more: take lenticular export for so many.' : ''}`, failed: []};
}

/// Saves the records of a file, by hundreds. Those that exist get the fields given. Where it was cut short, it goes on when this
/// tab is given the same file again.
export async function importRecords({target, type, file, signal, tell}) {
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
  const failed = [];
  const key = `import ${JSON.stringify([target, file.name, file.size, file.lastModified])}`;
  const begin = Number(sessionStorage.getItem(key));
  let saved = 0;
  for (let at = begin; at < records.length; at += 100) {
    const part = records.slice(at, at + 100).map(({recordName, recordType, fields, parent}) => ({
      recordName, recordType, fields, parent}));
    const answer = await run('record save', {...target, file: JSON.stringify(part)}, {signal});
    for (const {recordName, serverErrorCode, reason} of answer.records) {
      if (serverErrorCode) failed.push(`${recordName}: ${reason}`); else saved += 1;
    }
    sessionStorage.setItem(key, at + part.length);
    tell(`${begin + saved} of ${records.length} records…`, (at + part.length) / records.length);
  }
  sessionStorage.removeItem(key);
  return {text: `${saved} records are saved${begin ? `, and ${begin} were read before` : ''}${failed.length ? `, ${failed.length} are not` : ''}.`, failed};
}

/// Saves the rows of a table, whole: the server reads it.
async function importTable({target, type, file, signal}) {
  const {container, environment, database, user, zone} = target;
  requireOne(target);
  if (database === 'shared') throw new Error('A table goes into a public or a private database.');
  if (!type) throw new Error('Choose the record type of the table first.');
  const answer = await upload('import', {
    container, environment, user, zone, type, format: 'csv', update: true}, file, {signal});
  return {text: `${answer.records} records are saved${answer.failed ? `, ${answer.failed} are not` : ''}.`,
    failed: (answer.failures ?? []).map(({recordName, reason}) => `${recordName}: ${reason}`)};
}
