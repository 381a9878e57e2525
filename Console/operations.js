// What keeps the server well: backups and what comes back out of them, checks, settings, alerts, and who did what.

import {Part, bytes, confirm, copyable, define, empty, field, files, html, many, nothing, number, problem, say, time,
  waiting} from './parts.js';
import {Latest, may, operator, run} from './api.js';
import {change, to} from './address.js';
import {LISTING, Listing, table, views} from './listing.js';
import './index-work.js';

const VIEWS = [['', 'Backups', 'server show'], ['checks', 'Checks', 'doctor'], ['indexes', 'Index work', 'schema indexes'],
  ['settings', 'Settings', 'server settings'],
  ['alerts', 'Alerts', 'alert list'], ['audit', 'Audit', 'audit list'], ['about', 'About', 'server show']];
const POLL_MILLISECONDS = 2000;

class OperationsScreen extends Part {
  render() {
    const {view = ''} = this.values;
    return html`<h1>Operations</h1>${views('Parts of operations', VIEWS.filter(([, , needs]) => may(needs)), view,
      name => to('operations', {view: name}))}${this.#view(view)}`;
  }

  #view(view) {
    switch (view) {
      case 'checks': return html`<checks-view .values=${this.values}></checks-view>`;
      case 'indexes': return html`<index-work .values=${this.values}></index-work>`;
      case 'settings': return html`<settings-view .values=${this.values}></settings-view>`;
      case 'alerts': return html`<alerts-view .values=${this.values} .containers=${this.containers}></alerts-view>`;
      case 'audit': return html`<audit-view .values=${this.values}></audit-view>`;
      case 'about': return html`<about-view .values=${this.values}></about-view>`;
      default: return html`<backups-view .values=${this.values} .containers=${this.containers}></backups-view>`;
    }
  }
}
define('operations-screen', OperationsScreen, ['values', 'containers']);

/// The backups that the server makes by itself, one now, and one person's data out of them.
class BackupsView extends Listing {
  asks() { return []; }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  async find(signal) {
    clearTimeout(this.timer);
    const found = await run('server show', {}, {signal});
    if (found.backups?.isUnderWay && this.isConnected) {
      this.timer = setTimeout(() => this.load({keeps: true}), POLL_MILLISECONDS);
    }
    return found;
  }

  render() {
    return html`<h2>Backups</h2>${this.shown('Looking at the backups…', ({backups}) => backups ? this.#state(backups)
      : empty(html`The server makes none by itself: set <code>backups.to</code> to a folder on another disk, or to a bucket.`))}`;
  }

  #state({to: target, everyMinutes, isUnderWay, last, lastStoredBytes, verified, failures, failure, kept}) {
    return html`<dl class="about card">
        <div><dt>To</dt><dd><bdi>${target}</bdi></dd></div>
        <div><dt>Schedule</dt><dd>every ${many(everyMinutes, 'minute')}</dd></div>
        <div><dt>Last</dt><dd>${last ? time(last) : 'none yet'}${lastStoredBytes ? html`<br><span class="quiet">stored ${
          bytes(lastStoredBytes)}</span>` : nothing}</dd></div>
        <div><dt>Next</dt><dd>${isUnderWay ? 'one is being made' : last ? time(last + everyMinutes * 60_000) : '–'}</dd></div>
        <div><dt>Restored and found good</dt><dd>${verified ? time(verified) : 'never'}</dd></div>
        <div><dt>Failed since the start</dt><dd class=${failures ? 'bad' : nothing}>${number(failures)}</dd></div></dl>
      ${failure ? problem({message: `The last try failed: ${failure}`}) : nothing}
      <p class="quiet">How often is the setting <code>backups.everyMinutes</code>. All of the last hour are kept, one an hour for a
        day, one a day for a week, one a week for five weeks, one a month for a year.</p>
      <div class="row">${may('server backup') ? html`<button type="button" ?disabled=${this.busy || isUnderWay}
        @click=${() => this.#backUp()}>${isUnderWay ? 'A backup is being made…' : 'Back up now'}</button>` : nothing}
        <button type="button" class="second" @click=${() => this.load({keeps: true})}>Look again</button></div>
      ${this.outcome()}
      <details><summary>${many(kept.length, 'backup')} kept</summary><ol class="plain">${[...kept].reverse().map(moment => html`<li>${
        time(Date.parse(moment))}</li>`)}</ol></details>
      ${may('user restore') ? html`<restore-person .kept=${kept} .containers=${this.containers}></restore-person>` : nothing}`;
  }

  async #backUp() {
    if (await this.act('server backup', {}, 'A backup is asked for.')) this.load({keeps: true});
  }
}
define('backups-view', BackupsView, [...LISTING, 'containers']);

/// Somebody's private zones out of a backup: first shown, then done.
class RestorePerson extends Part {
  constructor() {
    super();
    this.state = {};
  }

  render() {
    const {busy, failure, report, wanted} = this.state;
    return html`<section aria-labelledby="restore"><h2 id="restore">One person’s data out of a backup</h2>
      <p class="quiet">Their private zones, beside what is there: what is newer here stays. First you see what would come back.</p>
      <form class="card narrow" @submit=${event => this.#look(event)}>
        ${field({label: 'E-mail address', name: 'email', type: 'email', required: true})}
        <div class="field"><label for="restore-container">Container</label><select id="restore-container" name="container">
          <option value="">all</option>${(this.containers ?? []).map(({id, name}) => html`<option value=${id}>${name || id}</option>`)}
        </select></div>
        <div class="field"><label for="restore-at">Backup</label><select id="restore-at" name="at">
          <option value="">the last one</option>${[...this.kept].reverse().map(moment => html`<option value=${moment}>${
            new Date(moment).toLocaleString()}</option>`)}</select></div>
        <div class="check"><input type="checkbox" id="restore-shares" name="shares"><label for="restore-shares">Shares too, with all
          who took part</label></div>
        ${problem(failure)}
        <div class="row"><button ?disabled=${busy}>${busy ? 'Reading the backup…' : 'Show what would come back'}</button></div></form>
      ${report ? this.#report(report, wanted) : nothing}</section>`;
  }

  #report({made, changed, same, newer, shares, sharesLeft, failed, done, problems = [], failures = [], notes = []}, wanted) {
    return html`<div class="card"><h3>${done ? 'Done for' : 'Of'} <bdi>${wanted.email}</bdi></h3><dl class="about">
        <div><dt>Records that ${done ? 'have' : 'would'} come back</dt><dd>${number(made)}</dd></div>
        <div><dt>${done ? 'Got' : 'Would get'} the backup’s values</dt><dd>${number(changed)}</dd></div>
        <div><dt>Are as they were</dt><dd>${number(same)}</dd></div>
        <div><dt>Newer, and stay as they are</dt><dd>${number(newer)}</dd></div>
        <div><dt>Shares</dt><dd>${number(shares)}${sharesLeft ? `, ${number(sharesLeft)} stay away` : ''}</dd></div>
        <div><dt>Failed</dt><dd class=${failed ? 'bad' : nothing}>${number(failed)}</dd></div></dl>
      ${[...problems, ...failures, ...notes].map(text => html`<p class="note">${text}</p>`)}
      ${!done && made + changed + shares > 0 ? operator().readOnly ? html`<p class="quiet">You look, and change nothing.</p>` : html`<button type="button" ?disabled=${this.state.busy}
        @click=${() => this.#restore(wanted)}>Bring them back</button>` : !done ? html`<p class="quiet">Nothing has to come back.</p>`
        : nothing}</div>`;
  }

  async #look(event) {
    event.preventDefault();
    const {email, container, at, shares} = event.target.elements;
    const wanted = {email: email.value.trim(), container: container.value, at: at.value, shares: shares.checked || undefined};
    this.state = {busy: true};
    try {
      this.state = {report: await run('user restore', wanted), wanted};
    } catch (failure) {
      this.state = failure.code === 'NEEDS_YES' ? {report: failure.shown, wanted} : {failure};
    }
  }

  async #restore(wanted) {
    const {report} = this.state;
    if (!await confirm({title: 'Bring the records back?', act: 'Bring back', danger: false, text: html`<p>${many(report.made, 'record')}
      of <b><bdi>${wanted.email}</bdi></b> ${report.made === 1 ? 'comes' : 'come'} back, and ${many(report.changed, 'record')}
      ${report.changed === 1 ? 'gets' : 'get'} the backup’s values. Their devices fetch them.</p>`})) return;
    this.state = {...this.state, busy: true};
    try {
      this.state = {report: await run('user restore', {...wanted, yes: true}), wanted};
      say('The records are back.');
    } catch (failure) { this.state = {failure, wanted}; }
  }
}
define('restore-person', RestorePerson, ['kept', 'containers', 'state']);

const LEVELS = {problem: 'Problem', advice: 'Advice', good: 'Good'};

/// Disk, network, mail and backups; everything read once; a test letter; and space that deletions have freed.
class ChecksView extends Listing {
  asks() { return []; }

  find(signal) { return run('doctor', {}, {signal}); }

  render() {
    return html`<div class="head"><h2>Around the server</h2><button type="button" class="second" @click=${() => this.load()}>Look
        again</button></div>
      ${this.shown('Looking at disk, network, mail and backups…', ({findings}) => table('Findings', ['', 'What', 'How it is', 'What to do'],
        Object.keys(LEVELS).flatMap(level => findings.filter(one => one.level === level)).map(({subject, level, text, remedy}) => html`<tr>
          <td class=${level === 'problem' ? 'bad' : nothing}>${LEVELS[level]}</td><th scope="row">${subject}</th><td>${text}</td>
          <td>${remedy || '–'}</td></tr>`)))}
      ${may('check') ? html`<data-check></data-check>` : nothing}
      ${may('server mail') ? html`<section aria-labelledby="mail"><h2 id="mail">Test letter</h2><form class="adding" @submit=${event => {
          event.preventDefault();
          const email = event.target.elements.email.value.trim();
          this.act('server mail', {email}, `A letter to ${email} is handed on.`);
        }}>${field({label: 'E-mail address', name: 'email', type: 'email', required: true})}
        <button ?disabled=${this.busy}>${this.busy ? 'Sending…' : 'Send'}</button></form>${this.outcome()}</section>` : nothing}`;
  }
}
define('checks-view', ChecksView, LISTING);

/// Reads everything that is stored. It takes as long as there is data, and goes on at the server when one leaves.
class DataCheck extends Part {
  #latest = new Latest();

  constructor() {
    super();
    this.state = {};
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#latest.end();
    clearInterval(this.timer);
  }

  async #run(values) {
    const began = Date.now();
    this.state = {began, seconds: 0};
    this.timer = setInterval(() => { this.state = {...this.state, seconds: Math.round((Date.now() - began) / 1000)}; }, 1000);
    try {
      this.state = {found: await run('check', values, {signal: this.#latest.begin()}), seconds: this.state.seconds};
      say('Everything is read.');
    } catch (failure) {
      if (failure.name !== 'AbortError') this.state = {failure};
    } finally { clearInterval(this.timer); }
  }

  render() {
    const {began, seconds, found, failure} = this.state;
    return html`<section aria-labelledby="check"><h2 id="check">All that is stored</h2>
      <p class="quiet">Reads every record, index and file, and says what is not what was written. Apps go on meanwhile.</p>
      <div class="row"><button type="button" ?disabled=${began} @click=${() => this.#run({})}>Check everything</button></div>
      ${began ? html`<p class="waiting" role="status">Reading everything…</p><p class="quiet" aria-hidden="true"><progress></progress>
        ${many(seconds, 'second')}</p>` : nothing}
      ${problem(failure)}
      ${found ? html`${found.ok ? html`<p class="note"><b>No problems.</b></p>` : html`<div class="problem" role="alert">
          <p><b>${many(found.problems.length, 'problem')}</b></p><ul>${found.problems.slice(0, 200).map(text => html`<li>${text}</li>`)}</ul>
          </div>${!operator().readOnly ? html`<button type="button" class="danger" @click=${() => this.#removeDamaged()}>Remove damaged
          records…</button>` : nothing}`}
        <p class="quiet">${[found.mendedSums ? `${many(found.mendedSums, 'checksum')} of assets made again` : '',
          found.trashedAssets ? `${many(found.trashedAssets, 'asset')} in the trash` : '',
          found.removedRecords ? `${many(found.removedRecords, 'damaged record')} removed` : ''].filter(Boolean).join(', ')}</p>` : nothing}
      </section>`;
  }

  async #removeDamaged() {
    if (await confirm({title: 'Remove damaged records?', act: 'Remove', text: html`<p>Records that are not what was written are
      deleted, and everything is checked anew. What a backup has of them can be brought back.</p>`})) {
      this.#run({'remove-damaged': true});
    }
  }
}
define('data-check', DataCheck, ['state']);

/// Every setting as the server began with it. Secrets come as dots.
class SettingsView extends Listing {
  asks() { return []; }

  find(signal) { return run('server settings', {}, {signal}); }

  render() {
    const {search = '', changed} = this.values;
    return html`<h2>Settings</h2><p class="quiet">As the server began with them. Change them where they are said, and start it anew.</p>
      <form class="query" role="search" @submit=${event => {
        event.preventDefault();
        change({search: event.target.elements.search.value.trim()});
      }}><label>Setting <input name="search" type="search" class="short" .value=${search} autocomplete="off"></label>
        <button class="second small">Search</button>
        <div class="check"><input type="checkbox" id="changed" .checked=${Boolean(changed)} @change=${event => change(
          {changed: event.target.checked ? '1' : ''})}><label for="changed">Only those that somebody has set</label></div></form>
      ${this.shown('Looking for settings…', ({settings}) => this.#list(settings.filter(({setting, from}) =>
        setting.toLowerCase().includes(search.toLowerCase()) && (!changed || from !== 'default'))))}`;
  }

  #list(settings) {
    if (settings.length === 0) return empty('No setting is so.');
    return html`${table('Settings', ['Setting', 'Value', 'From'], settings.map(({setting, value, from}) => html`<tr>
      <th scope="row"><code>${setting}</code></th><td><code>${value}</code></td><td>${from}</td></tr>`))}
      <p class="quiet foot">${many(settings.length, 'setting')}</p>`;
  }
}
define('settings-view', SettingsView, LISTING);

const METRICS = {requests: 'requests', errors: 'errors', 'error-rate': 'errors in percent of requests', p50: 'p50, milliseconds',
  p95: 'p95, milliseconds', p99: 'p99, milliseconds', 'users-affected': 'people with errors', 'bytes-in': 'bytes in',
  'bytes-out': 'bytes out', 'notices-failed': 'notices that failed'};

/// Who is told when something that is counted passes a threshold.
class AlertsView extends Listing {
  asks() { return []; }

  find(signal) { return run('alert list', {}, {signal}); }

  render() {
    return html`<div class="head"><h2>Alerts</h2>${may('alert add') && !this.adding ? html`<button type="button"
        @click=${() => { [this.adding, this.made] = [true, null]; }}>Add an alert</button>` : nothing}</div>
      ${this.adding ? this.#add() : nothing}${this.outcome()}
      ${this.shown('Looking for alerts…', ({alerts}) => alerts.length === 0 ? empty('Nobody is told of anything yet.')
        : table('Alerts', ['Name', 'When', 'Of', 'Tells', 'Last told', ''], alerts.map(alert => this.#row(alert))))}`;
  }

  #row({name, metric, above, threshold, relative, minutes, container, environment, database, operation, client, code, mail, url, told}) {
    const button = (word, act) => html`<button type="button" class="second small" ?disabled=${this.busy} aria-label=${`${word} ${name}`}
      @click=${act}>${word}</button>`;
    return html`<tr><th scope="row">${name}</th><td>${METRICS[metric] ?? metric} ${above ? 'above' : 'below'} ${threshold}${
        relative ? ' % of before' : ''} in ${many(minutes, 'minute')}</td>
      <td><bdi>${[container, environment, database, operation, client, code].filter(Boolean).join(', ') || 'everything'}</bdi></td>
      <td><bdi>${[mail, url].filter(Boolean).join(', ')}</bdi></td><td>${told ? time(told) : 'never'}</td>
      <td><div class="row tools">${may('alert test') ? button('Test', () => this.act('alert test', {name}, ({text}) => `Told: ${text}`)) : nothing}
        ${may('alert remove') ? button('Remove', () => this.#remove(name)) : nothing}</div></td></tr>`;
  }

  async #remove(name) {
    const removed = await this.act('alert remove', {name}, `${name} is removed.`, {title: 'Remove the alert?', act: 'Remove',
      text: html`<p>Nobody is told by <b>${name}</b> any more.</p>`});
    if (removed) this.load({keeps: true});
  }

  #add() {
    const {made} = this;
    return html`<form class="card narrow" @submit=${async event => {
      event.preventDefault();
      const {elements} = event.target;
      const value = name => elements[name].value.trim();
      this.made = await this.act('alert add', {name: value('name'), metric: value('metric'), [value('side')]: value('threshold'),
        minutes: value('minutes'), container: value('container'), environment: value('environment'), operation: value('operation'),
        mail: value('mail'), url: value('url')}, 'The alert is added.');
      if (this.made) this.load({keeps: true});
      if (this.made && !this.made.signingKey && !this.made.warnings.length) [this.adding, this.made] = [false, null];
    }}>${made ? html`<p><b>${made.alert}</b> is added.</p>${made.signingKey ? html`<p>Its requests are signed by this key, shown
        this once.</p>${copyable(made.signingKey, 'Signing key')}` : nothing}${made.warnings.map(text => html`<p class="note">${text}</p>`)}`
      : html`${field({label: 'Name', name: 'name', required: true, pattern: '[A-Za-z0-9_\\-]+', autofocus: true, hint: 'Letters, digits, hyphens and _.'})}
        <div class="field"><label for="metric">What is counted</label><select id="metric" name="metric">${Object.entries(METRICS).map(
          ([value, words]) => html`<option value=${value}>${words}</option>`)}</select></div>
        <div class="field"><label for="side">Told when it is</label><select id="side" name="side"><option>above</option>
          <option>below</option></select></div>
        ${field({label: 'Threshold', name: 'threshold', required: true, pattern: '[0-9.]+%?', hint: 'A number; with %, so much more or less than the time before.'})}
        ${field({label: 'Over so many minutes', name: 'minutes', value: '5', inputmode: 'numeric', pattern: '[0-9]+', required: true})}
        <div class="field"><label for="alert-container">Container</label><select id="alert-container" name="container"><option value="">all</option>
          ${(this.containers ?? []).map(({id, name}) => html`<option value=${id}>${name || id}</option>`)}</select></div>
        <div class="field"><label for="alert-environment">Environment</label><select id="alert-environment" name="environment">
          <option value="">both</option><option>development</option><option>production</option></select></div>
        ${field({label: 'Operation', name: 'operation', hint: 'Such as records/modify. Left empty, all.'})}
        ${field({label: 'E-mail address', name: 'mail', type: 'email', hint: 'Who is written to. It or a URL is needed.'})}
        ${field({label: 'URL', name: 'url', type: 'url', hint: 'Where JSON is posted to, signed.'})}`}
      <div class="row">${made ? nothing : html`<button ?disabled=${this.busy}>Add</button>`}
        <button type="button" class="second" @click=${() => { [this.adding, this.made, this.doFailure] = [false, null, null]; }}>${
          made ? 'Close' : 'Cancel'}</button></div></form>`;
  }
}
define('alerts-view', AlertsView, [...LISTING, 'containers', 'adding', 'made']);

/// Who did what to what is not theirs, the latest first; and whether the log is as it was written.
class AuditView extends Listing {
  asks() { return [this.values.search, this.values.since]; }

  async find(signal) {
    const {search, since} = this.values;
    const page = await run('audit list', {search, since, limit: 100, after: this.next}, {signal});
    const earlier = this.next ? this.found : {entries: [], problems: []};
    this.next = page.after;
    return {entries: [...earlier.entries, ...page.entries], problems: [...earlier.problems, ...page.problems]};
  }

  load(options = {}) {
    if (!options.keeps) this.next = undefined;
    return super.load(options);
  }

  render() {
    const {search = '', since = ''} = this.values;
    return html`<h2>Audit</h2><form class="query" role="search" @submit=${event => {
        event.preventDefault();
        const {elements} = event.target;
        change({search: elements.search.value.trim(), since: elements.since.value});
      }}><label>Begins with <input name="search" class="short" .value=${search} autocomplete="off"
        placeholder="Operator, action, account"></label>
        <label>Since <input name="since" type="date" class="short" .value=${since}></label><button class="second small">Search</button></form>
      ${this.shown('Reading the log…', ({entries, problems}) => html`${problems.length ? html`<div class="problem" role="alert">
          <p><b>The log is not as it was written:</b></p><ul>${problems.map(text => html`<li>${text}</li>`)}</ul></div>` : nothing}
        ${entries.length === 0 ? empty('Nothing is noted.') : html`${table('What was done', ['When', 'Who', 'What', 'Account', 'Of what'],
          entries.map(({time: when, who, what, account, detail}) => html`<tr><td>${time(when)}</td><td><bdi>${who}</bdi></td><td>${what}</td>
            <td>${account ? html`<code>${account}</code>` : '–'}</td><td><bdi>${detail ?? '–'}</bdi></td></tr>`))}
          <p class="quiet foot">${many(entries.length, 'entry').replace('entrys', 'entries')}, the latest first${this.next ? html`, and more.
            <button type="button" class="second small" @click=${() => this.load({keeps: true})}>Show more</button>` : nothing}</p>`}`)}`;
  }
}
define('audit-view', AuditView, [...LISTING, 'next']);

const MADE_OF = [['lit', 'BSD 3-Clause', `${files}lit.txt`, 'the console'], ['uPlot', 'MIT', `${files}uPlot.txt`, 'its charts'],
  ['SQLite', 'public domain', 'https://sqlite.org/copyright.html', 'what stores'],
  ['OpenSSL', 'Apache 2.0', 'https://openssl-library.org/source/license/', 'TLS and digests'],
  ['zlib', 'zlib', 'https://zlib.net/zlib_license.html', 'compression'],
  ['nghttp2', 'MIT', 'https://github.com/nghttp2/nghttp2/blob/master/COPYING', 'pushes to Apple’s devices, where built in'],
  ['Swift', 'Apache 2.0 with an exception', 'https://www.swift.org/legal/license.html', 'its standard library']];

class AboutView extends Listing {
  asks() { return []; }

  find(signal) { return run('server show', {}, {signal}); }

  render() {
    return html`<h2>About</h2>${this.shown('Looking…', ({version, commit, since}) => html`<dl class="about card">
      <div><dt>Version</dt><dd>${version}</dd></div><div><dt>Commit</dt><dd><code>${commit || '–'}</code></dd></div>
      <div><dt>Serving since</dt><dd>${time(since)}</dd></div></dl>`)}
      <h2>Made with</h2>${table('Licences', ['What', 'For', 'Licence'], MADE_OF.map(([name, licence, address, use]) => html`<tr>
        <th scope="row">${name}</th><td>${use}</td><td><a href=${address} target="_blank" rel="noreferrer"
        aria-label=${`Licence of ${name}: ${licence}`}>${licence}</a></td></tr>`))}`;
  }
}
define('about-view', AboutView, LISTING);
