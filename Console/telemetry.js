// Charts of what the server has counted: requests, errors, times, bytes and notices of one container environment.

import {Part, bytes, define, empty, files, html, many, moment, nothing, number, problem, waiting} from './parts.js';
import {Latest, isHere, may, run} from './api.js';
import {change, to} from './address.js';
import {CHARTS, draw, library} from './charts.js';
import {marks} from './marks.js';

const HOUR = 3_600_000;
const WINDOWS = [['1', 'Hour'], ['24', 'Day'], ['720', '30 days'], ['8760', 'Year']];
const GROUPS = [['operations', 'Operation'], ['clients', 'Client'], ['versions', 'Version'], ['databases', 'Database'],
  ['errors', 'Error']];
/// A moment as commands take it.
const stamp = milliseconds => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');

class TelemetryScreen extends Part {
  #latest = new Latest();
  #charts = [];
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #redraw = () => this.#draw();

  connectedCallback() {
    super.connectedCallback();
    this.#scheme.addEventListener('change', this.#redraw);
    addEventListener('resize', this.#redraw);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
    this.#scheme.removeEventListener('change', this.#redraw);
    removeEventListener('resize', this.#redraw);
    this.#charts.forEach(chart => chart.destroy());
    this.#charts = [];
  }

  willUpdate(changes) {
    const {container, environment, hours, until, operation} = this.values;
    const asked = JSON.stringify([container, environment, hours, until, operation]);
    if (!changes.has('values') || asked === this.asked) return;
    this.asked = asked;
    this.#load();
  }

  updated(changes) {
    if (['told', 'before', 'marks'].some(name => changes.has(name))) this.#draw();
  }

  async #load() {
    const signal = this.#latest.begin();
    const {container, environment, hours = '24', until, operation} = this.values;
    [this.told, this.before, this.marks, this.failure] = [null, null, [], null];
    if (!container) return;
    const asked = {container, environment, hours, operation};
    try {
      this.uPlot = await library();
      this.told = await run('telemetry show', {...asked, until: until && stamp(Number(until))}, {signal});
      const {from, to: end} = this.told;
      [this.before, this.marks] = await Promise.all([
        run('telemetry show', {...asked, until: stamp(from - 1)}, {signal}),
        marks({container, environment, from, to: end}, signal)]);
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    const {container, hours = '24', until, operation = ''} = this.values;
    const isWindow = WINDOWS.some(([value]) => value === hours) && !until;
    return html`<link rel="stylesheet" href="${files}uPlot.min.css"><h1>Telemetry</h1>
      ${!container ? empty('Choose a container to see its charts.') : html`
      <form class="query" @submit=${event => {
        event.preventDefault();
        change({operation: event.target.elements.operation.value.trim()});
      }}><div class="switch" role="group" aria-label="Time">${WINDOWS.map(([value, title]) => html`<button type="button"
        aria-pressed=${isWindow && value === hours ? 'true' : 'false'} @click=${() => change({hours: value, until: ''})}>${title}</button>`)}</div>
        <label>Operation <input name="operation" class="short" .value=${operation} placeholder="records/modify" autocomplete="off"></label>
        <button class="second small">Show</button>
        <button type="button" class="second small" @click=${() => this.#load()}>Look again</button></form>
      ${this.failure ? problem(this.failure, () => this.#load()) : !this.told ? waiting('Counting…') : this.#figures()}`}`;
  }

  #figures() {
    const {total, stepSeconds, from, to: end} = this.told;
    return html`${this.#totals(total)}
      <p class="quiet">${moment(from)} to ${moment(end)}, a point is ${stepSeconds >= 3600 ? many(stepSeconds / 3600, 'hour')
        : many(stepSeconds / 60, 'minute')}. Drag over a chart to zoom in; the dashed lines are the time before.
        ${this.#moves(from, end)}</p>
      ${this.#marks()}
      ${total.requests === 0 ? empty('No request was counted in this time.') : nothing}
      <div class="charts">${CHARTS.map(({title}) => html`<figure class="card"><figcaption>${title}</figcaption>
        <div class="chart" role="img" aria-label=${`${title}: the totals are above`}></div></figure>`)}</div>
      ${this.#groups()}`;
  }

  #totals(total) {
    const rate = counts => counts.requests ? `${(100 * counts.errors / counts.requests).toFixed(1)} %` : '–';
    const time = value => value === undefined ? '–' : `${(value / 1000).toFixed(1)} ms`;
    const was = this.before?.total;
    const change = (key, shown = number) => was ? html`<span class="quiet small">before: ${shown(was[key])}</span>` : nothing;
    return html`<dl class="about card">
      <div><dt>Requests</dt><dd>${number(total.requests)} ${change('requests')}</dd></div>
      <div><dt>Errors</dt><dd>${number(total.errors)}, ${rate(total)} ${change('errors')}</dd></div>
      <div><dt>People with errors</dt><dd>${number(total.usersAffected)} ${change('usersAffected')}</dd></div>
      <div><dt>p50, p95, p99</dt><dd>${time(total.p50Microseconds)}, ${time(total.p95Microseconds)}, ${
        time(total.p99Microseconds)}</dd></div>
      <div><dt>Bytes in and out</dt><dd>${bytes(total.bytesIn)}, ${bytes(total.bytesOut)}</dd></div>
      <div><dt>Notices sent, failed</dt><dd>${number(total.noticesSent)}, ${number(total.noticesFailed)}</dd></div></dl>`;
  }

  /// By the keyboard what dragging does, and to the lines of what is shown.
  #moves(from, end) {
    const {container, operation} = this.values;
    const span = end - from;
    const show = (start, stop) => this.#zoom(start, stop);
    return html`<span class="row tools"><button type="button" class="second small" @click=${() => show(from - span, from)}>Earlier</button>
      <button type="button" class="second small" @click=${() => show(from + span, end + span)}
        ?disabled=${end >= Date.now()}>Later</button>
      <button type="button" class="second small" ?disabled=${span <= HOUR} @click=${() => show(end - span / 2, end)}>Zoom in</button>
      <button type="button" class="second small" @click=${() => show(from - span, end)}>Zoom out</button>
      ${may('logs') ? html`<a href=${to('logs', {container, operation, since: from, until: end})}>The requests themselves</a>` : nothing}</span>`;
  }

  /// Whole hours, so that the server's points stay whole; up to now where it ends later.
  #zoom(from, end) {
    const hours = Math.max(1, Math.min(9600, Math.round((end - from) / HOUR)));
    change({hours: String(hours), until: end >= Date.now() ? '' : String(Math.round(Math.max(end, from + HOUR)))});
  }

  #marks() {
    if (!this.marks?.length) return nothing;
    return html`<ol class="marks" aria-label="What happened meanwhile">${this.marks.slice(-12).map(({time, words}, index) => html`<li><b
      class="mark-letter" aria-hidden="true">${String.fromCharCode(65 + index)}</b> ${words}, <time
      datetime=${new Date(time).toISOString()}>${moment(time)}</time></li>`)}</ol>`;
  }

  /// What makes the figures up, by one of what requests are told apart by.
  #groups() {
    const {group = 'operations'} = this.values;
    const rows = group === 'errors' ? null : this.told[group] ?? [];
    return html`<section aria-labelledby="groups"><div class="head"><h2 id="groups">By ${GROUPS.find(([key]) => key === group)?.[1].toLowerCase()
        ?? ''}</h2>
      <div class="switch" role="group" aria-label="Group by">${GROUPS.map(([key, title]) => html`<button type="button"
        aria-pressed=${key === group ? 'true' : 'false'} @click=${() => change({group: key}, {replaces: true})}>${title}</button>`)}</div></div>
      ${group === 'errors' ? this.#errors() : rows.length === 0 ? empty('Nothing was counted so.') : html`
      <div class="wide" tabindex="0" role="group" aria-label="Table"><table class="dense"><thead><tr><th scope="col">Name</th>
        <th scope="col" class="number">Requests</th><th scope="col" class="number">Errors</th><th scope="col" class="number">p50</th>
        <th scope="col" class="number">p95</th><th scope="col" class="number">In</th><th scope="col" class="number">Out</th></tr></thead>
        <tbody>${rows.map(row => this.#row(row, group))}</tbody></table></div>`}</section>`;
  }

  #row({name, requests, errors, p50Microseconds, p95Microseconds, bytesIn, bytesOut}, group) {
    const time = value => value === undefined ? '–' : `${(value / 1000).toFixed(1)} ms`;
    return html`<tr><th scope="row">${group === 'operations' ? html`<button type="button" class="plain"
        @click=${() => change({operation: name})}>${name}</button>` : html`<bdi>${name || '–'}</bdi>`}</th>
      <td class="number">${number(requests)}</td><td class=${errors ? 'number bad' : 'number'}>${number(errors)}</td>
      <td class="number">${time(p50Microseconds)}</td><td class="number">${time(p95Microseconds)}</td>
      <td class="number">${bytes(bytesIn)}</td><td class="number">${bytes(bytesOut)}</td></tr>`;
  }

  #errors() {
    const {errorCodes = [], itemFaults = []} = this.told.total;
    const {from, to: end} = this.told;
    const {container, operation} = this.values;
    const known = [...errorCodes.map(each => ({...each, of: 'requests'})), ...itemFaults.map(each => ({...each, of: 'items'}))];
    if (known.length === 0) return empty('Nothing went wrong.');
    return html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table class="dense"><thead><tr><th scope="col">Error</th>
      <th scope="col">Of</th><th scope="col" class="number">Count</th></tr></thead><tbody>${known.map(({code, count, of}) => html`<tr>
        <th scope="row">${may('logs') && isHere('logs') ? html`<a href=${to('logs', {
          container, operation, error: code, since: from, until: end})}>${code}</a>` : code}</th>
        <td>${of}</td><td class="number">${number(count)}</td></tr>`)}</tbody></table></div>`;
  }

  #draw() {
    this.#charts.forEach(chart => chart.destroy());
    this.#charts = this.told ? draw(this, {
      uPlot: this.uPlot, told: this.told, before: this.before, marks: this.marks ?? [],
      zoomed: (from, end) => this.#zoom(from, end)}) : [];
  }
}
define('telemetry-screen', TelemetryScreen, ['values', 'told', 'before', 'marks', 'failure']);
