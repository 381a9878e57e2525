// What happened to a server and to an environment's schema in some time, for charts to mark. What the operator may not
// know, or this server does not tell, is left out.

import {isHere, may, run} from './api.js';

/// What a list says, or nothing where it may not be asked.
async function asked(command, values, signal) {
  if (!isHere(command) || !may(command)) return {};
  try {
    return await run(command, values, {signal});
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    return {};
  }
}

/// - Returns: moments in milliseconds, each with words, the earliest first.
export async function marks({container, environment, from, to}, signal) {
  const [{entries = []}, {since, backups}, history] = await Promise.all([
    asked('audit list', {limit: 1000, since: new Date(from).toISOString().replace(/\.\d+Z$/, 'Z')}, signal),
    asked('server show', {}, signal),
    asked('schema history', {container, environment, limit: 100}, signal)]);
  const found = [];
  if (since) found.push({time: since, words: 'server started'});
  for (const time of backups?.kept ?? []) found.push({time, words: 'backup'});
  for (const {time, what} of entries) {
    if (['backup', 'shrink', 'restore'].includes(what)) found.push({time, words: what});
  }
  // A line for each difference, with the number and the moment of its change in front.
  const schema = new Map((history.changes ?? []).map(line => line.split(/\s+/)).map(([number, at]) => [number, Date.parse(at)]));
  for (const time of schema.values()) {
    found.push({time, words: environment === 'production' ? 'schema deployed' : 'schema changed'});
  }
  return found.filter(({time}) => time >= from && time < to).sort((one, other) => one.time - other.time);
}
