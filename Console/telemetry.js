// What the server did for whom: charts of what it has counted in one container environment, and its requests, searched and live.

import {Asking, button, bytes, change, choice, define, empty, facts, files, follow, foot, give, html, many, may, moment, named,
  nothing, number, pick, problem, run, say, search, short, stamp, submitted, table, time, to, user, waiting}
  from './screen.js';
import {columnChoice, kept} from './queries.js';
import {localMinute as local} from './values.js';

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
  if (document.readyState === 'complete') return failed(new Error('The charts could not be loaded: load the page anew.'));
  const script = document.getElementById('charts');
  script.addEventListener('load', () => done(window.uPlot));
  script.addEventListener('error', () => failed(new Error('The charts could not be loaded.')));
});

/// Lines of moments, with the letters that the list of marks has.
const markLines = (marks, colour, text) => chart => {
  const {ctx, bbox} = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = text;
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  ctx.setLineDash([4, 4]);
  marks.forEach(({time}, index) => {
    const x = Math.round(chart.valToPos(time / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(String.fromCharCode(65 + index), x + 3, bbox.top + 11 * devicePixelRatio);
  });
  ctx.restore();
};

/// Draws into each `.chart` of an element; the charts, to be destroyed by who asked.
///
/// - zoomed: called with the two moments between which somebody has dragged.
function draw(element, {uPlot, told, before, marks, zoomed}) {
  const style = getComputedStyle(element);
  // A probe resolves what light-dark() means right now.
  const probe = document.createElement('span');
  element.append(probe);
  const colour = name => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const [line, text] = [colour('--line'), colour('--text')];
  const starts = told.points.map(({start}) => start / 1000);
  // The time before has as many points; it is drawn where it would be now.
  const earlier = before?.points.slice(-told.points.length);
  const charts = [...element.querySelectorAll('.chart')].map((box, index) => {
    const {lines, shown = number} = CHARTS[index];
    const axis = {stroke: text, grid: {stroke: line, width: 0.3}, ticks: {stroke: line, width: 0.3}, font: `12px ${style.fontFamily}`};
    const value = (chart, value) => value === null || value === undefined ? '–' : shown(value);
    const now = lines.map(([label, name]) => ({label, stroke: colour(name), width: 2, spanGaps: false, value}));
    const [[label, name, of]] = lines;
    const then = earlier ? [{label: `${label} before`, stroke: colour(name), width: 1, dash: [4, 4], spanGaps: false, value}] : [];
    return new uPlot({
      width: box.clientWidth, height: 220,
      cursor: {sync: {key: 'telemetry'}, drag: {x: true, y: false, setScale: false}},
      scales: {y: {range: (chart, low, high) => [0, Math.max(high * 1.1, 1)]}},
      axes: [axis, {...axis, size: 64, values: (chart, values) => values.map(shown)}],
      series: [{}, ...now, ...then],
      hooks: {
        draw: [markLines(marks.slice(-12), text, text)],
        setSelect: [chart => {
          const {left, width} = chart.select;
          if (width < 5) return;
          zoomed(1000 * chart.posToVal(left, 'x'), 1000 * chart.posToVal(left + width, 'x'));
        }]},
    }, [starts, ...lines.map(([, , each]) => told.points.map(each)), ...earlier ? [earlier.map(of)] : []], box);
  });
  probe.remove();
  return charts;
}

/// - Returns: moments in milliseconds, each with words, the earliest first.
/// - starts: of the server, as the charts' answer has them; - part: asks for each.
async function marks({container, environment, from, to, starts}, part) {
  const [audit, server, history] = await Promise.all([
    part('audit list', {limit: 1000, since: stamp(from)}), part('server show', {}),
    part('schema history', {container, environment, limit: 100})]);
  const found = starts.map(({minute}) => ({time: minute, words: 'server started'}));
  for (const at of server?.backups?.kept ?? []) found.push({time: Date.parse(at), words: 'backup'});
  for (const {time, what} of audit?.entries ?? []) {
    if (['backup', 'shrink', 'restore'].includes(what)) found.push({time, words: what});
  }
  // A line for each difference, with the number and the moment of its change in front.
  const schema = new Map((history?.changes ?? []).map(line => line.split(/\s+/)).map(([number, at]) => [number, Date.parse(at)]));
  for (const time of schema.values()) {
    found.push({time, words: environment === 'production' ? 'schema deployed' : 'schema changed'});
  }
  return found.filter(({time}) => time >= from && time < to).sort((one, other) => one.time - other.time);
}

const HOUR = 3_600_000;
const WINDOWS = [['1', 'Hour'], ['24', 'Day'], ['720', '30 days'], ['8760', 'Year']];
const GROUPS = [['operations', 'Operation'], ['clients', 'Client'], ['versions', 'Version'], ['databases', 'Database'],
  ['errors', 'Error']];
const rate = ({requests, errors}) => requests ? `${(100 * errors / requests).toFixed(1)} %` : '–';
const inside = value => value === undefined ? '–' : `${(value / 1000).toFixed(1)} ms`;

class TelemetryScreen extends Asking {
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
    this.#scheme.removeEventListener('change', this.#redraw);
    removeEventListener('resize', this.#redraw);
    this.#charts.forEach(chart => chart.destroy());
    this.#charts = [];
  }

  asks() {
    const {container, environment, hours, until, operation} = this.values;
    return [container, environment, hours, until, operation];
  }

  updated(changes) {
    if (['told', 'before', 'marks'].some(name => changes.has(name))) this.#draw();
  }

  async load() {
    const {container, environment, hours = '24', until, operation} = this.values;
    [this.told, this.before, this.marks, this.failure, this.partFailure] = [null, null, [], null, null];
    if (!container) return;
    const asked = {container, environment, hours, operation};
    await this.ask(async signal => {
      this.uPlot = await library();
      this.told = await run('telemetry show', {...asked, until: until && stamp(until)}, {signal});
      const {from, to: end, starts} = this.told;
      [this.before, this.marks] = await Promise.all([
        run('telemetry show', {...asked, until: stamp(from - 1)}, {signal}),
        marks({container, environment, from, to: end, starts}, (name, values) => this.part(name, values, signal))]);
    }, failure => { this.failure = failure; });
  }

  render() {
    const {container, hours = '24', until, operation = ''} = this.values;
    const isWindow = WINDOWS.some(([value]) => value === hours) && !until;
    return html`<link rel="stylesheet" href="${files}uPlot.min.css"><h1>Telemetry</h1>
      ${!container ? empty('Choose a container to see its charts.') : html`
      ${search(html`${choice('Time', WINDOWS, isWindow ? hours : '', value => change({hours: value, until: ''}))}
        ${short({label: 'Operation', name: 'operation', value: operation, hint: 'records/modify'})}
        ${button('Look again', () => this.load())}`, change, 'Show')}
      ${this.failure ? problem(this.failure, () => this.load()) : !this.told ? waiting('Counting…') : this.#figures()}`}`;
  }

  #figures() {
    const {total, stepSeconds, from, to: end} = this.told;
    return html`${problem(this.partFailure, () => this.load())}${this.#totals(total)}
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
    const was = this.before?.total;
    const change = (key, shown = number) => was ? html`<span class="quiet small">before: ${shown(was[key])}</span>` : nothing;
    return facts([
      ['Requests', html`${number(total.requests)} ${change('requests')}`],
      ['Errors', html`${number(total.errors)}, ${rate(total)} ${change('errors')}`],
      ['People with errors', html`${number(total.usersAffected)} ${change('usersAffected')}`],
      ['p50, p95, p99', `${inside(total.p50Microseconds)}, ${inside(total.p95Microseconds)}, ${inside(total.p99Microseconds)}`],
      ['Bytes in and out', `${bytes(total.bytesIn)}, ${bytes(total.bytesOut)}`],
      ['Notices sent, failed', `${number(total.noticesSent)}, ${number(total.noticesFailed)}`]], 'about card');
  }

  /// By the keyboard what dragging does, and to the lines of what is shown.
  #moves(from, end) {
    const {container, operation} = this.values;
    const span = end - from;
    const move = (word, start, stop, disabled) => button(word, () => this.#zoom(start, stop), {disabled});
    return html`<span class="row tools">${move('Earlier', from - span, from)}${move('Later', from + span, end + span, end >= Date.now())}
      ${move('Zoom in', end - span / 2, end, span <= HOUR)}${move('Zoom out', from - span, end)}
      ${may('logs') ? html`<a href=${to('logs', {container, operation, since: from, until: end})}>The requests themselves</a>` : nothing}</span>`;
  }

  /// Whole hours, so that the server's points stay whole; up to now where it ends later.
  #zoom(from, end) {
    const hours = Math.max(1, Math.min(9600, Math.round((end - from) / HOUR)));
    change({hours: String(hours), until: end >= Date.now() ? '' : String(Math.round(Math.max(end, from + HOUR)))});
  }

  #marks() {
    if (!this.marks?.length) return nothing;
    return html`<ol class="marks" aria-label="What happened meanwhile">${this.marks.slice(-12).map(({time: at, words}, index) => html`<li><b
      class="mark-letter" aria-hidden="true">${String.fromCharCode(65 + index)}</b> ${words}, ${time(at)}</li>`)}</ol>`;
  }

  /// What makes the figures up, by one of what requests are told apart by.
  #groups() {
    const {group = 'operations'} = this.values;
    const rows = group === 'errors' ? null : this.told[group] ?? [];
    return html`<section aria-labelledby="groups"><div class="head"><h2 id="groups">By ${GROUPS.find(([key]) => key === group)?.[1].toLowerCase()
        ?? ''}</h2>
      ${choice('Group by', GROUPS, group, key => change({group: key}, {replaces: true}))}</div>
      ${group === 'errors' ? this.#errors() : rows.length === 0 ? empty('Nothing was counted so.')
        : table('Figures', ['Name', ...['Requests', 'Errors', 'p50', 'p95', 'In', 'Out'].map(head => [head, 'number'])],
          rows.map(row => this.#row(row, group)), 'dense')}</section>`;
  }

  #row({name, requests, errors, p50Microseconds, p95Microseconds, bytesIn, bytesOut}, group) {
    return html`<tr><th scope="row">${group === 'operations' ? button(name,
        () => change({operation: name}), {kind: 'plain'}) : html`<bdi>${name || '–'}</bdi>`}</th>
      <td class="number">${number(requests)}</td><td class=${errors ? 'number bad' : 'number'}>${number(errors)}</td>
      <td class="number">${inside(p50Microseconds)}</td><td class="number">${inside(p95Microseconds)}</td>
      <td class="number">${bytes(bytesIn)}</td><td class="number">${bytes(bytesOut)}</td></tr>`;
  }

  #errors() {
    const {errorCodes = [], itemFaults = []} = this.told.total;
    const {from, to: end} = this.told;
    const {container, operation} = this.values;
    const known = [...errorCodes.map(each => ({...each, of: 'requests'})), ...itemFaults.map(each => ({...each, of: 'items'}))];
    if (known.length === 0) return empty('Nothing went wrong.');
    return table('Errors', ['Error', 'Of', ['Count', 'number']], known.map(({code, count, of}) => html`<tr>
        <th scope="row">${may('logs') ? html`<a href=${to('logs', {
          container, operation, error: code, since: from, until: end})}>${code}</a>` : code}</th>
        <td>${of}</td><td class="number">${number(count)}</td></tr>`), 'dense');
  }

  #draw() {
    this.#charts.forEach(chart => chart.destroy());
    this.#charts = this.told ? draw(this, {
      uPlot: this.uPlot, told: this.told, before: this.before, marks: this.marks ?? [],
      zoomed: (from, end) => this.#zoom(from, end)}) : [];
  }
}
define('telemetry-screen', TelemetryScreen, ['values', 'told', 'before', 'marks', 'failure', 'partFailure']);

const PAGE = 500;
const KEPT = 5000;
const SEARCH_WINDOWS = [['', 'All that is kept'], ['1', 'The last hour'], ['24', 'The last day'], ['168', 'The last week']];
const SEARCHED = ['container', 'user', 'operation', 'error', 'hours', 'since', 'until', 'columns'];

const sum = entry => ['waiting', 'reading', 'deciding', 'committing', 'sending'].reduce(
  (total, part) => total + (entry[`${part}Microseconds`] ?? 0), 0) / 1000;
const failed = entry => entry.error ?? entry.code ?? entry.failed?.[0]?.code ?? (entry.status >= 400 ? '' : null);

const isolated = key => entry => html`<bdi>${entry[key] ?? '–'}</bdi>`;
const as = (key, shown) => entry => shown(entry[key] ?? 0);

/// What a line may show: its key, its title, its text, and what is not text.
const COLUMNS = [
  ['operation', 'Operation', isolated('operation'), 'whole'],
  ['status', 'Status', entry => html`<span class=${failed(entry) === null ? nothing : 'bad'}>${entry.status} ${failed(entry)}</span>`, 'whole'],
  ['user', 'User', isolated('user'), 'whole'],
  ['app', 'App', isolated('app')],
  ['device', 'Device', isolated('device')],
  ['container', 'Container', isolated('container')],
  ['environment', 'Environment', isolated('environment')],
  ['database', 'Database', isolated('database')],
  ['zones', 'Zones', entry => html`<bdi>${(entry.zones ?? []).map(({zoneName}) => zoneName).join(', ') || '–'}</bdi>`],
  ['items', 'Items', as('items', number), 'number'],
  ['records', 'Records', as('records', number), 'number'],
  ['bytesIn', 'In', as('bytesIn', bytes), 'number'],
  ['bytesOut', 'Out', as('bytesOut', bytes), 'number'],
  ['ms', 'ms', entry => sum(entry).toFixed(1), 'number'],
];
const USUAL = ['operation', 'status', 'user', 'app', 'bytesIn', 'bytesOut', 'ms'];

class LogsScreen extends Asking {
  constructor() {
    super();
    Object.assign(this, {entries: null, opened: new Set()});
  }

  asks() {
    const {container, user, operation, error, hours, since, until, live} = this.values;
    return [container, user, operation, error, hours, since, until, live];
  }

  load() {
    const search = JSON.stringify(this.asks().slice(0, -1));
    if (search !== this.search) this.entries = null;
    this.search = search;
    return this.values.live ? this.#follow() : this.#load();
  }

  #selection() {
    const {container, user, operation, error, hours, since, until, live} = this.values;
    const from = since ? Number(since) : hours ? Date.now() - Number(hours) * 3_600_000 : undefined;
    return {container, user, operation, error, since: from && stamp(from), until: until && !live ? stamp(until) : undefined};
  }

  #load() {
    [this.entries, this.failure, this.next] = [null, null, undefined];
    return this.#more();
  }

  /// A page of lines, and then those before them: the latest come first.
  #more() {
    return this.ask(async signal => {
      const page = await run('logs', {...this.#selection(), limit: PAGE, after: this.next}, {signal});
      this.entries = [...this.entries ?? [], ...page.requests.reverse()];
      this.next = page.after;
    }, failure => { this.failure = failure; });
  }

  /// One request that goes on: the server sends each line when it has it.
  #follow() {
    [this.entries, this.failure, this.next] = [this.entries ?? [], null, undefined];
    const known = new Set(this.entries.map(({request}) => request));
    say('Live.');
    return this.ask(async signal => {
      for await (const entry of follow('logs', {...this.#selection(), limit: PAGE, follow: true}, {signal})) {
        if (known.has(entry.request)) continue;
        known.add(entry.request);
        this.entries = [entry, ...this.entries].slice(0, KEPT);
      }
      if (this.values.live) change({live: ''}, {replaces: true});
    }, failure => { this.failure = failure; });
  }

  render() {
    const {live} = this.values;
    return html`<div class="head"><h1>Logs</h1><div class="row tools">
        ${button(live ? 'Live' : 'Go live', () => change({live: live ? '' : '1', until: ''}), {kind: live ? '' : 'second', pressed: String(Boolean(live))})}
        ${button('Export', () => this.#export(), {kind: 'second', disabled: !this.entries?.length})}</div></div>
      ${this.#search()}
      ${problem(this.failure, () => this.load())}
      ${!this.entries ? this.failure ? nothing : waiting('Looking for requests…')
        : this.entries.length === 0 ? empty(live ? 'Nothing has come yet.' : 'No request is here.') : this.#table()}`;
  }

  #search() {
    const {container, operation, error, hours = '', since, until} = this.values;
    const moment = (name, text) => {
      const before = this.values[name];
      if (text === (before ? local(before) : '')) return before;
      return text ? String(new Date(text).getTime()) : '';
    };
    return html`<form class="query search" role="search" @submit=${submitted(({since, until, ...given}) => change(
        {...given, since: moment('since', since), until: moment('until', until)}))}>
      ${pick('App', named(this.containers, 'all'), container, null, 'container')}${user(this.values.user)}
      ${short({label: 'Operation', name: 'operation', value: operation, hint: 'records/modify'})}
      ${short({label: 'Error', name: 'error', value: error, hint: 'CONFLICT'})}${pick('When', SEARCH_WINDOWS, hours, null, 'hours')}
      ${[['From', 'since', since], ['Until', 'until', until]].map(([label, name, value]) => short(
        {label, name, type: 'datetime-local', value: value ? local(value) : ''}))}
      <button class="small">Search</button></form>
      <div class="query">${columnChoice(COLUMNS, this.#columns.map(([key]) => key))}
        ${kept(this, {one: 'search', many: 'searches', names: SEARCHED})}</div>`;
  }

  get #columns() {
    const wanted = this.values.columns ? this.values.columns.split(',') : USUAL;
    return COLUMNS.filter(([key]) => wanted.includes(key));
  }

  #table() {
    const columns = this.#columns;
    return html`${table('Requests', ['Time', ...columns.map(([, title, , kind]) => [title, kind])],
      this.entries.map(entry => this.#line(entry, columns)), 'dense')}
      ${foot(`${many(this.entries.length, 'request')}, the latest first`, this.next, () => this.#more())}`;
  }

  #line(entry, columns) {
    const isOpen = this.opened.has(entry.request);
    return html`<tr><td><button type="button" class="plain" aria-expanded=${String(isOpen)} @click=${() => {
        const opened = new Set(this.opened);
        if (!opened.delete(entry.request)) opened.add(entry.request);
        this.opened = opened;
      }}>${time(Date.parse(entry.time))}</button></td>
      ${columns.map(([, , shown, kind = nothing]) => html`<td class=${kind}>${shown(entry)}</td>`)}</tr>
      ${isOpen ? html`<tr><td colspan=${columns.length + 1}>${this.#whole(entry)}</td></tr>` : nothing}`;
  }

  /// All of a line, and where it leads.
  #whole(entry) {
    const {container, environment, user} = entry;
    return html`${facts(Object.entries(entry).map(([key, value]) => [key, html`<bdi>${
        typeof value === 'object' ? JSON.stringify(value) : value}</bdi>`]))}
      <div class="row tools">${container && may('record list') ? html`<a class="button second small"
          href=${to('data', {container, environment})}>The data of this app</a>` : nothing}
        ${container && user && may('user sync') ? html`<a class="button second small"
          href=${to('people', {user, container, environment})}>This user's sync</a>` : nothing}</div>`;
  }

  #export() {
    const lines = this.entries.map(entry => JSON.stringify(entry)).join('\n');
    give('requests.jsonl', 'application/jsonl', [`${lines}\n`]);
  }
}
define('logs-screen', LogsScreen, ['values', 'containers', 'entries', 'next', 'failure', 'opened']);
