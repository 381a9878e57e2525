// Everything that the console asks of the server: the session, and the commands of /console/api. It keeps what the
// server has told of the operator's rights, and decides nothing by itself.

import {parse} from './json.js';

const ROOT = '/console/api';

/// An answer that is none: a word of a closed set, and a line for people.
export class Failure extends Error {
  constructor(status, body = {}) {
    super(body.reason || `the server answered ${status}`);
    this.name = 'Failure';
    this.status = status;
    this.code = body.error || 'FAILED';
    this.shown = body.shown;
    this.retryAfter = body.retryAfter;
  }
}

let session = null;
let commands = new Map();
let commandLineOnly = [];
let asking = null;
let askForProof = async () => { throw new Failure(401, {error: 'UNAUTHENTICATED'}); };

/// - who: called when a sign-in is needed meanwhile; its promise is kept when the operator has signed in again.
export const whenProofIsNeeded = who => { askForProof = who; };

async function send(method, path, body, signal) {
  let answer;
  try {
    const headers = {'Content-Type': 'application/json'};
    if (session) headers['X-Console-Page'] = session.page;
    answer = await fetch(ROOT + path, {
      method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'same-origin', cache: 'no-store'});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, {error: 'OFFLINE', reason: 'The server cannot be reached. Nothing is lost: try again.'});
  }
  let object = {};
  try { object = parse(await answer.text()); } catch (error) {
    if (error.name === 'AbortError') throw error;
    if (answer.ok) throw new Failure(0, {error: 'OFFLINE', reason: 'The answer broke off. Try again.'});
  }
  if (!answer.ok) throw new Failure(answer.status, object);
  if (answer.headers.get('X-Exit-Status') === '1') object.isBadNews = true;
  return object;
}

/// Who is signed in; null for nobody.
export const operator = () => session;

async function learn(found) {
  session = found;
  const list = await send('GET', '');
  commands = new Map(list.commands.map(command => [command.name, command]));
  commandLineOnly = list.commandLineOnly;
  return session;
}

/// Finds the session that the browser has.
export async function resume() {
  try {
    return await learn(await send('GET', '/session'));
  } catch (failure) {
    if (failure.code === 'UNAUTHENTICATED') return null;
    throw failure;
  }
}

export const signIn = async (email, password, code) =>
  learn(await send('POST', '/session', code ? {email, password, code} : {email, password}));

export async function signOut() {
  try { await send('DELETE', '/session'); } catch (failure) {
    if (failure.code !== 'UNAUTHENTICATED') throw failure;
  }
  session = null;
  commands = new Map();
}

/// Whether the operator may ask for a command at all; the server decides for each container.
export const may = name => Boolean(commands.get(name)?.may);
export const isHere = name => commands.has(name);
export const isOnlyOnCommandLine = name => commandLineOnly.includes(name);

/// Runs a command by its name. A sign-in that is asked for meanwhile is given, and the command sent again.
export async function run(name, values = {}, {signal} = {}) {
  const body = Object.fromEntries(Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== ''));
  const path = '/' + name.split(' ').join('/');
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send('POST', path, body, signal);
    } catch (failure) {
      const needsProof = ['PROOF_NEEDED', 'UNAUTHENTICATED', 'FOREIGN_PAGE'].includes(failure.code);
      if (!needsProof || attempt === 2) throw failure;
      // Several requests of a screen wait for one sign-in.
      asking ??= askForProof(failure).finally(() => { asking = null; });
      await asking;
    }
  }
}

/// All pages of a list, up to a number of items.
export async function all(name, key, values = {}, {signal, max = 10_000} = {}) {
  const items = [];
  let after;
  do {
    const page = await run(name, {limit: 1000, ...values, after}, {signal});
    items.push(...page[key]);
    after = page.after;
  } while (after && items.length < max);
  return {items, isWhole: !after};
}

/// A request of a screen that is given up when the next one begins.
export class Latest {
  #current;

  begin() {
    this.#current?.abort();
    this.#current = new AbortController();
    return this.#current.signal;
  }

  end() { this.#current?.abort(); }
}
