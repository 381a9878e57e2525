// A proxy between an app and the server that loses, delays and cuts answers.

import http from 'node:http';
import {once} from 'node:events';

export class Proxy {
  /** What becomes of the next requests, one each: 'pass', 'refuse', 'lose', 'cut', 'hold', or [status, text, headers]. */
  plan = [];
  /** The targets of the requests that came. */
  targets = [];
  #server;

  static async before(server) {
    const proxy = new Proxy();
    proxy.#server = http.createServer((request, response) => {
      proxy.targets.push(request.url);
      proxy.#pass(new URL(request.url, server.url), request, response);
    });
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.url = `http://127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(url, request, response) {
    const fate = this.plan.shift() ?? 'pass';
    if (Array.isArray(fate)) {
      const [status, text, headers] = fate;
      return response.writeHead(status, headers).end(text);
    }
    if (fate === 'refuse') return response.destroy();
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const {method, headers} = request;
    const onward = http.request(url, {method, headers: {...headers, host: url.host}});
    onward.on('error', () => response.destroy());
    onward.end(Buffer.concat(pieces));
    const [answer] = await once(onward, 'response');
    const body = [];
    for await (const piece of answer) body.push(piece);
    const text = Buffer.concat(body);
    if (fate === 'lose') return response.destroy();
    if (fate === 'hold') return;
    response.writeHead(answer.statusCode, answer.headers);
    if (fate !== 'cut') return response.end(text);
    // Half of it, and then nothing.
    response.write(text.subarray(0, text.length >> 1), () => response.destroy());
  }
}
