// Charts of what the server has counted: requests, errors, times, bytes and notices of one container environment.

import {Part, bytes, define, empty, files, html, many, nothing, number, problem, waiting} from './parts.js';
import {Latest, may, run} from './api.js';
import {change, to} from './address.js';

const WINDOWS = [['1', 'Hour'], ['24', 'Day'], ['720', '30 days'], ['8760', 'Year']];
const milliseconds = value => value === undefined ? null : value / 1000;
const CHARTS = [
  {title: 'Requests', lines: [['requests', '--act', ({requests}) => requests], ['errors', '--bad', ({errors}) => errors]]},
  {title: 'Milliseconds inside the server', lines: [
    ['p50', '--act', point => milliseconds(point.p50Microseconds)],
    ['p95', '--link', point => milliseconds(point.p95Microseconds)],
    ['p99', '--bad', point => milliseconds(point.p99Microseconds)]]},
  {title: 'Bytes', lines: [['in', '--act', point => point.bytesIn], ['out', '--link', point => point.bytesOut]], shown: bytes},
  {title: 'Notices', lines: [['sent', '--act', point => point.noticesSent], ['failed', '--bad', point => point.noticesFailed]]},
];

/// The library is a classic script of the document, loaded beside everything else.
const library = () => new Promise((done, failed) => {
  if (window.uPlot) return done(window.uPlot);
  const script = document.getElementById('charts');
  script.addEventListener('load', () => done(window.uPlot));
  script.addEventListener('error', () => failed(new Error('The charts could not be loaded.')));
});

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
    const {container, environment, hours, operation} = this.values;
    const asked = JSON.stringify([container, environment, hours, operation]);
    if (!changes.has('values') || asked === this.asked) return;
    this.asked = asked;
    this.#load();
  }

  updated(changes) { if (changes.has('told')) this.#draw(); }

  async #load() {
    const signal = this.#latest.begin();
    const {container, environment, hours = '24', operation} = this.values;
    [this.told, this.failure] = [null, null];
    if (!container) return;
    try {
      this.uPlot = await library();
      this.told = await run('telemetry show', {container, environment, hours, operation}, {signal});
    } catch (failure) {
      if (failure.name !== 'AbortError') this.failure = failure;
    }
  }

  render() {
    const {container, environment, hours = '24', operation = ''} = this.values;
    return html`<link rel="stylesheet" href="${files}uPlot.min.css"><h1>Telemetry</h1>
      ${!container ? empty('Choose a container to see its charts.') : html`
      <form class="query" @submit=${event => {
        event.preventDefault();
        change({operation: event.target.elements.operation.value.trim()});
      }}><div class="switch" role="group" aria-label="Time">${WINDOWS.map(([value, title]) => html`<button type="button"
        aria-pressed=${value === hours ? 'true' : 'false'} @click=${() => change({hours: value})}>${title}</button>`)}</div>
        <label>Operation <input name="operation" class="short" .value=${operation} placeholder="records/modify" autocomplete="off"></label>
        <button class="second small">Show</button>
        <button type="button" class="second small" @click=${() => this.#load()}>Look again</button></form>
      ${this.failure ? problem(this.failure, () => this.#load()) : !this.told ? waiting('Counting…') : this.#figures()}`}`;
  }

  #figures() {
    const {total, stepSeconds} = this.told;
    const {container, environment, operation} = this.values;
    const rate = total.requests ? `${(100 * total.errors / total.requests).toFixed(1)} %` : '–';
    const time = value => value === undefined ? '–' : `${(value / 1000).toFixed(1)} ms`;
    return html`<dl class="about card">
        <div><dt>Requests</dt><dd>${number(total.requests)}</dd></div>
        <div><dt>Errors</dt><dd>${number(total.errors)}, ${rate}</dd></div>
        <div><dt>People with errors</dt><dd>${number(total.usersAffected)}</dd></div>
        <div><dt>p50, p95, p99</dt><dd>${time(total.p50Microseconds)}, ${time(total.p95Microseconds)}, ${
          time(total.p99Microseconds)}</dd></div>
        <div><dt>Bytes in and out</dt><dd>${bytes(total.bytesIn)}, ${bytes(total.bytesOut)}</dd></div>
        <div><dt>Notices sent, failed</dt><dd>${number(total.noticesSent)}, ${number(total.noticesFailed)}</dd></div></dl>
      <p class="quiet">A point is ${stepSeconds >= 3600 ? many(stepSeconds / 3600, 'hour') : many(stepSeconds / 60, 'minute')}. Drag over
        a chart to zoom in, double-click to see all.${may('logs') && environment ? html` <a href=${to('logs', {
          container, operation, hours: this.values.hours ?? '24'})}>The requests themselves</a>` : nothing}</p>
      ${total.requests === 0 ? empty('No request was counted in this time.') : nothing}
      <div class="charts">${CHARTS.map(({title}) => html`<figure class="card"><figcaption>${title}</figcaption>
        <div class="chart" role="img" aria-label=${`${title}: the totals are above`}></div></figure>`)}</div>`;
  }

  #draw() {
    this.#charts.forEach(chart => chart.destroy());
    this.#charts = [];
    if (!this.told) return;
    const style = getComputedStyle(this);
    // A probe resolves what light-dark() means right now.
    const probe = document.createElement('span');
    this.append(probe);
    const colour = name => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const [line, text] = [colour('--line'), colour('--text')];
    const starts = this.told.points.map(({start}) => start / 1000);
    this.querySelectorAll('.chart').forEach((box, index) => {
      const {lines, shown = number} = CHARTS[index];
      const axis = {stroke: text, grid: {stroke: line, width: 0.3}, ticks: {stroke: line, width: 0.3}, font: `12px ${style.fontFamily}`};
      this.#charts.push(new this.uPlot({
        width: box.clientWidth, height: 200, cursor: {sync: {key: 'telemetry'}},
        scales: {y: {range: (chart, low, high) => [0, Math.max(high * 1.1, 1)]}},
        axes: [axis, {...axis, size: 64, values: (chart, values) => values.map(shown)}],
        series: [{}, ...lines.map(([label, name]) => ({label, stroke: colour(name), width: 2, spanGaps: false,
          value: (chart, value) => value === null ? '–' : shown(value)}))],
      }, [starts, ...lines.map(([, , of]) => this.told.points.map(of))], box));
    });
    probe.remove();
  }
}
define('telemetry-screen', TelemetryScreen, ['values', 'told', 'failure']);
