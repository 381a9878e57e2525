// Everything that the console asks of the server: the session, and the commands of /console/api. It keeps what the
// server has told of the operator's rights, and decides nothing by itself.

const exact = (key, value, context) => typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value) &&
  context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;

/// JSON whose whole numbers stay as they were written where a double does not hold them, and are sent so again.
export const parse = text => JSON.parse(text, exact);

const ROOT = '/console/api';

/// An answer that is none: a word of a closed set, and a line for people.
class Failure extends Error {
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
let asking = null;
let askForProof = async () => { throw new Failure(401, {error: 'UNAUTHENTICATED'}); };

/// - who: called when a sign-in is needed meanwhile; its promise is kept when the operator has signed in again.
export const whenProofIsNeeded = who => { askForProof = who; };

/// One request; what is refused is thrown.
async function ask(method, path, body, signal) {
  let answer;
  try {
    const headers = {'Content-Type': 'application/json'};
    if (session) {
      headers['X-Console-Page'] = session.page;
      headers['X-Console-Acting'] = session.acting?.id ?? 'none';
    }
    answer = await fetch(ROOT + path, {
      method, headers, signal, body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      credentials: 'same-origin', cache: 'no-store'});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, {error: 'OFFLINE', reason: 'The server cannot be reached. Nothing is lost: try again.'});
  }
  if (answer.ok) return answer;
  let object = {};
  try { object = parse(await answer.text()); } catch (error) {
    if (error.name === 'AbortError') throw error;
  }
  if (object.error === 'ACTING_CHANGED') await take('GET', '/session').catch(() => {});
  throw new Failure(answer.status, object);
}

const brokenOff = () => new Failure(0, {error: 'OFFLINE', reason: 'The answer broke off. Try again.'});

async function send(method, path, body, signal) {
  const answer = await ask(method, path, body, signal);
  let object;
  try { object = parse(await answer.text()); } catch (error) {
    throw error.name === 'AbortError' ? error : brokenOff();
  }
  if (answer.headers.get('X-Exit-Status') === '1') object.isBadNews = true;
  return object;
}

/// Who is signed in; null for nobody.
export const operator = () => session;

let ending;

/// Takes what the session is now. When what it is on behalf of may have ended, the server is asked, which is no use of it.
function become(found) {
  session = found;
  clearTimeout(ending);
  const {ends} = found?.acting ?? {};
  if (ends) ending = setTimeout(() => take('GET', '/session').catch(() => become(session)), Math.max(5000, ends - Date.now()));
}

async function learn(found) {
  become(found);
  const list = await send('GET', '');
  commands = new Map(list.commands.map(command => [command.name, command]));
  return session;
}

/// Asks for what the session has become, and says so to the frame.
async function take(method, path, body) {
  become(await send(method, path, body));
  dispatchEvent(new Event('actingchange'));
}

/// As whom the operator acts, and where: a state of the session on the server; null for as themselves.
export const acting = () => session?.acting ?? null;

/// Begins to act as somebody in a container environment; else as themselves again.
export const actAs = person => proven(() => person ? take('POST', '/session/acting', person) : take('DELETE', '/session/acting'));

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
  become(null);
  commands = new Map();
}

/// Whether the operator may ask for a command at all; the server decides for each container.
export const may = name => Boolean(commands.get(name)?.may && !(acting() && commands.get(name).whileActing === 'refused'));
export const isHere = name => commands.has(name);

const given = values => Object.fromEntries(Object.entries(values).filter(
  ([, value]) => value !== undefined && value !== null && value !== ''));
const pathOf = name => '/' + name.split(' ').join('/');

/// Does it, and again where a sign-in is asked for meanwhile and given.
async function proven(request) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request();
    } catch (failure) {
      const needsProof = ['PROOF_NEEDED', 'UNAUTHENTICATED', 'FOREIGN_PAGE'].includes(failure.code);
      if (!needsProof || attempt === 2) throw failure;
      // Several requests of a screen wait for one sign-in.
      asking ??= askForProof(failure).finally(() => { asking = null; });
      await asking;
    }
  }
}

/// Runs a command by its name. A sign-in that is asked for meanwhile is given, and the command sent again.
export const run = (name, values = {}, {signal} = {}) =>
  proven(() => send('POST', pathOf(name), given(values), signal));

/// Runs a command that takes a file as its body.
export const upload = (name, values, file, {signal} = {}) => proven(() => send(
  'POST', `${pathOf(name)}?arguments=${encodeURIComponent(JSON.stringify(given(values)))}`, file, signal));

/// The pieces of a command's answer, as they come.
async function* pieces(name, values, signal) {
  const answer = await proven(() => ask('POST', pathOf(name), given(values), signal));
  const reader = answer.body.getReader();
  for (;;) {
    let piece;
    try { piece = await reader.read(); } catch (error) {
      throw error.name === 'AbortError' ? error : brokenOff();
    }
    if (piece.done) return;
    yield piece.value;
  }
}

/// The answer of a command that streams, whole.
///
/// - tell: called with how many bytes have come.
export async function download(name, values, {signal, tell} = {}) {
  const parts = [];
  let count = 0;
  for await (const piece of pieces(name, values, signal)) {
    parts.push(piece);
    count += piece.length;
    tell?.(count);
  }
  return new Blob(parts);
}

/// The lines of a command that streams, each an object, as they come.
export async function* follow(name, values, {signal} = {}) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of pieces(name, values, signal)) {
    const lines = (rest + decoder.decode(piece, {stream: true})).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) yield parse(line);
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

const AT_ONCE = 4;

/// Goes through items, a few at a time.
export async function each(items, act) {
  const left = [...items];
  const step = async () => { while (left.length) await act(left.shift()); };
  await Promise.all(Array.from({length: AT_ONCE}, step));
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
