// The server as a process, on a folder and a port of its own.

import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const binary = process.env.LENTICULAR_BINARY ??
  fileURLToPath(new URL('../../../../.build/release/lenticular', import.meta.url));

export const containerIdentifier = 'iCloud.org.example.Script';

export class Server {
  #folder = mkdtempSync(join(tmpdir(), 'lenticular-'));
  #process;

  /** Starts it with a container, an API token and whatever people are asked for by their names. */
  static async start(...names) {
    const server = new Server();
    await server.#serve();
    server.command('container', 'create', containerIdentifier);
    server.apiToken = server.command(
      'api-token', 'create', containerIdentifier, 'development').apiToken;
    server.tokens = {};
    for (const name of names) {
      server.command('user', 'create', `${name}@example.org`, '--given-name', name);
      server.tokens[name] = server.webToken(name);
    }
    return server;
  }

  /** Signs somebody out everywhere. */
  endSessions(name) {
    execFileSync(binary, ['user', 'password', `${name}@example.org`, '--password-stdin', '--data',
      this.#data], {input: 'correct horse battery', stdio: ['pipe', 'ignore', 'inherit']});
  }

  webToken(name, ...more) {
    return this.command(
      'web-token', 'create', containerIdentifier, 'development', `${name}@example.org`, ...more).webAuthToken;
  }

  /** Runs one command on the data folder; its answer. */
  command(...words) {
    const output = execFileSync(
      binary, [...words, '--data', this.#data, '--json'], {encoding: 'utf8'});
    return JSON.parse(output);
  }

  path(name) { return join(this.#folder, name); }

  async stop() {
    this.#process.kill('SIGTERM');
    const [status] = await once(this.#process, 'exit');
    rmSync(this.#folder, {recursive: true});
    if (status !== 0) throw new Error(`the server ended with ${status}`);
  }

  /** Kills it in the middle of whatever it does, and starts it again at its address. */
  async crash() {
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
    await this.#serve(new URL(this.url).port);
  }

  get #data() { return join(this.#folder, 'data'); }

  async #serve(port = 0) {
    this.#process = spawn(
      binary, ['serve', '--data', this.#data, '--listen', `127.0.0.1:${port}`],
      {stdio: ['ignore', 'pipe', 'inherit'], env: {
        ...process.env, LENTICULAR_METRICS_LISTEN: '', LENTICULAR_PUSH_POLL_SECONDS: '2',
        // A query that a busy machine held up comes out as any other.
        LENTICULAR_LIMITS_INDEX_WAIT_MILLISECONDS: '30000', LENTICULAR_LIMITS_QUERY_MILLISECONDS_MAX: '600000',
      }});
    process.on('exit', () => this.#process.kill('SIGKILL'));
    for await (const line of createInterface({input: this.#process.stdout})) {
      const event = JSON.parse(line);
      if (event.message !== 'serving') continue;
      this.url = `http://${event.listen.split(/[ ,]/)[0]}`;
      // What comes after is read, so that the pipe never fills.
      this.#process.stdout.resume();
      return;
    }
    throw new Error('the server has not started');
  }
}
