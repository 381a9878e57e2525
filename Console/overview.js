// The first page: what needs attention, what each container holds and does, and how the server stands.

import {LISTING, Listing, all, button, bytes, define, each, empty, facts, html, many, may, newContainer, noContainer, nothing, number, problem, table,
  time, to, waiting} from './screen.js';

const STEP = 20;
const DAY = 86_400_000;

class OverviewScreen extends Listing {
  #signal;

  asks() { return []; }

  async find(signal) {
    [this.environments, this.trouble, this.server, this.findings, this.partFailure] = [null, [], null, null, null];
    const {items} = await all('container list', 'containers', {}, {signal});
    for (const {container, missing} of items) {
      for (const environment of missing ?? []) {
        this.#add({word: 'data', text: `The data of ${container}, ${environment}, is not in its place.`,
          remedy: 'Put it back, or restore a backup.', link: ['Checks', to('operations', {view: 'checks'})]});
      }
    }
    this.#signal = signal;
    this.left = items;
    this.#measure().catch(failure => this.#failed(failure));
    this.#examine(signal).catch(failure => this.#failed(failure));
    return {count: items.length};
  }

  #failed(failure) {
    if (failure.name === 'AbortError') return;
    this.partFailure = failure;
    this.measuring = false;
  }

  #add(...more) { this.trouble = [...this.trouble, ...more]; }

  /// The server itself: findings of doctor, its backups, and alerts that were told of.
  async #examine(signal) {
    const [server, alerts, findings] = await Promise.all([
      this.part('server show', {}, signal), this.part('alert list', {}, signal), this.part('doctor', {}, signal)]);
    this.server = server;
    for (const {name, metric, told} of alerts?.alerts ?? []) {
      if (told > Date.now() - DAY) {
        this.#add({word: 'alert', text: html`<bdi>${name}</bdi> (${metric}) was told of ${time(told)}.`,
          link: ['Alerts', to('operations', {view: 'alerts'})]});
      }
    }
    if (server?.backups?.failure) {
      this.#add({word: 'backups', text: `The last try failed: ${server.backups.failure}`,
        link: ['Backups', to('operations')]});
    }
    this.#add(...(findings?.findings ?? []).filter(({level, subject}) => level === 'problem' && subject !== 'data')
      .map(({subject, text, remedy}) => ({word: subject, text, remedy, link: ['Checks', to('operations', {view: 'checks'})]})));
    this.findings = findings?.findings ?? [];
  }

  /// What each of the next containers holds and did in a day, and what was given up or fails there.
  async #measure() {
    const [signal, containers, found] = [this.#signal, this.left.slice(0, STEP), []];
    this.measuring = true;
    await each(containers, async ({container}) => {
      const measured = await this.part('size', {container}, signal);
      await each(measured?.environments ?? [], async size => {
        const {environment} = size;
        const [told, hooks] = await Promise.all([
          this.part('telemetry show', {container, environment, hours: '24'}, signal),
          this.part('webhook list', {container, environment}, signal)]);
        found.push({...size, total: told?.total});
        for (const {name, givenUp, failures, lastReason} of hooks?.webhooks ?? []) {
          if (!givenUp && !failures) continue;
          this.#add({word: 'delivery', text: html`Webhook <bdi>${name}</bdi> of ${container}, ${environment}: ${givenUp
              ? `${many(givenUp, 'notice')} given up` : ''}${givenUp && failures ? ', ' : ''}${failures
              ? `${many(failures, 'attempt')} failed` : ''}.${lastReason ? ` ${lastReason}` : ''}`,
            link: ['Webhooks', to('delivery', {container, environment, view: 'webhooks', webhook: givenUp ? name : ''})]});
        }
      });
    });
    this.left = this.left.slice(STEP);
    this.measuring = false;
    this.environments = [...this.environments ?? [], ...found].sort((one, other) => (other.total?.requests ?? 0) - (one.total?.requests ?? 0));
  }

  render() {
    return html`<div class="head"><h1>Overview</h1><div class="row tools">${newContainer()}${this.again()}</div></div>
      ${this.shown('Looking at the server…', ({count}) => html`${problem(this.partFailure, () => this.load())}${
        this.#attention()}${this.#containers(count)}${this.#server()}`)}`;
  }

  #attention() {
    const isLooking = this.findings === null || this.environments === null;
    const advice = (this.findings ?? []).filter(({level}) => level === 'advice');
    return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
      ${this.trouble.length ? html`<ol class="causes">${this.trouble.map(({word, text, remedy, link}) => html`<li class="card">
        <p><b>${word}</b>: ${text}</p>${remedy ? html`<p class="quiet">${remedy}</p>` : nothing}
        ${link ? html`<p><a href=${link[1]}>${link[0]}</a></p>` : nothing}</li>`)}</ol>`
        : isLooking || this.partFailure ? nothing : html`<p class="note"><b>Nothing${this.left.length ? ' so far' : ''}.</b> ${
          may('doctor') ? 'Disk, network, mail, backups and data were looked at.' : 'The containers that are yours were looked at.'}${
          this.left.length ? ` ${many(this.left.length, 'container')} not yet: measure more.` : ''}</p>`}
      ${isLooking ? waiting('Looking at disk, network, mail, backups and data…') : nothing}
      ${advice.length ? html`<p class="quiet"><a href=${to('operations', {view: 'checks'})}>${many(advice.length,
        'further thing')} that many hosts would do otherwise</a></p>` : nothing}</section>`;
  }

  #containers(count) {
    if (count === 0) return noContainer();
    const rows = this.environments;
    return html`<section aria-labelledby="held"><h2 id="held">Containers</h2>
      ${rows === null ? waiting('Measuring…') : rows.length === 0 ? this.partFailure ? nothing : empty('No container holds anything yet.')
        : table('Containers', ['Container', 'Environment', 'Records', 'Size', 'Requests in a day', 'Errors'], rows.map(
          ({container, environment, records, recordBytes, assetBytes, total}) => html`<tr>
            <th scope="row"><a href=${to('data', {container, environment})}><bdi>${container}</bdi></a></th><td>${environment}</td>
            <td>${number(records)}</td><td>${bytes(recordBytes + assetBytes)}</td>
            <td>${total ? html`<a href=${to('telemetry', {container, environment})}
              aria-label=${`${number(total.requests)} requests of ${container}, ${environment}`}>${number(total.requests)}</a>` : '–'}</td>
            <td class=${total?.errors ? 'bad' : nothing}>${total ? `${number(total.errors)}${total.errors
              ? ` (${(100 * total.errors / total.requests).toFixed(1)} %)` : ''}` : '–'}</td></tr>`))}
      <p class="quiet foot">${many(count, 'container')}${rows && this.left.length ? html`, of which ${number(count - this.left.length)} are measured.
        ${button(this.measuring ? 'Measuring…' : 'Measure more', () => this.#measure().catch(failure => this.#failed(failure)),
          {disabled: this.measuring})}` : '.'}
        <a href=${to('containers')}>All containers</a></p></section>`;
  }

  #server() {
    if (!this.server) return nothing;
    const {version, since, backups} = this.server;
    return html`<section aria-labelledby="server"><h2 id="server">Server</h2>${facts([
      ['Version', version], ['Serving since', time(since)],
      ['Last backup', backups ? backups.last ? time(backups.last) : 'none yet' : 'none are made'],
      ['Restored and found good', backups ? backups.verified ? time(backups.verified) : 'never' : '–']], 'about card')}
      <p><a href=${to('operations')}>Operations</a></p></section>`;
  }
}
define('overview-screen', OverviewScreen, [...LISTING, 'environments', 'trouble', 'server', 'findings', 'partFailure', 'left', 'measuring']);
