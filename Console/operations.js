// What keeps the server well: backups and what comes back out of them, checks, index work, settings, alerts, and who did what.

import {Asking, LISTING, LOOKS_ONLY, Listing, Part, all, button, bytes, change, check, confirm, copyable, define, each, empty,
  environmentField, facts, field, follow, files, html, indexWork, many, may, named, nothing, number, operator, problem, problems, run, say, search, select,
  short, submitted, table, time, to} from './screen.js';

const VIEWS = [['', 'Backups', 'server show', 'backups-view'], ['checks', 'Checks', 'doctor', 'checks-view'],
  ['indexes', 'Index work', 'schema indexes', 'index-work'], ['settings', 'Settings', 'server settings', 'settings-view'],
  ['alerts', 'Alerts', 'alert list', 'alerts-view'], ['audit', 'Audit', 'audit list', 'audit-view'],
  ['about', 'About', 'server show', 'about-view']];

class OperationsScreen extends Part {
  render() {
    return html`<h1>Operations</h1>${this.views('Parts of operations', VIEWS, view => to('operations', {view}))}`;
  }
}
define('operations-screen', OperationsScreen, ['values', 'containers']);

/// The backups that the server makes by itself, one now, and one person's data out of them.
class BackupsView extends Listing {
  asks() { return []; }

  async find(signal) {
    this.watch();
    const found = await run('server show', {}, {signal});
    this.watch(found.backups?.isUnderWay);
    return found;
  }

  render() {
    return html`<h2>Backups</h2>${this.shown('Looking at the backups…', ({backups}) => backups ? this.#state(backups)
      : empty(html`The server makes none by itself: set <code>backups.to</code> to a folder on another disk, or to a bucket.`))}`;
  }

  #state({to: target, everyMinutes, isUnderWay, last, lastStoredBytes, verified, failures, failure, kept}) {
    return html`${facts([
        ['To', html`<bdi>${target}</bdi>`], ['Schedule', `every ${many(everyMinutes, 'minute')}`],
        ['Last', html`${last ? time(last) : 'none yet'}${lastStoredBytes ? html`<br><span class="quiet">stored ${
          bytes(lastStoredBytes)}</span>` : nothing}`],
        ['Next', isUnderWay ? 'one is being made' : last ? time(last + everyMinutes * 60_000) : '–'],
        ['Restored and found good', verified ? time(verified) : 'never'],
        ['Failed since the start', number(failures), failures ? 'bad' : nothing]], 'about card')}
      ${failure ? problem({message: `The last try failed: ${failure}`}) : nothing}
      <p class="quiet">How often is the setting <code>backups.everyMinutes</code>. All of the last hour are kept, one an hour for a
        day, one a day for a week, one a week for five weeks, one a month for a year.</p>
      <div class="row">${may('server backup') ? html`<button type="button" ?disabled=${this.busy || isUnderWay}
        @click=${() => this.#backUp()}>${isUnderWay ? 'A backup is being made…' : 'Back up now'}</button>` : nothing}
        ${this.again({keeps: true})}</div>
      ${this.outcome()}
      <details><summary>${many(kept.length, 'backup')} kept</summary><ol class="plain">${[...kept].reverse().map(moment => html`<li>${
        time(Date.parse(moment))}</li>`)}</ol></details>
      ${may('user restore') ? html`<restore-person .kept=${kept} .containers=${this.containers}></restore-person>` : nothing}`;
  }

  async #backUp() {
    if (await this.act('server backup', {}, 'A backup is asked for.')) this.load({keeps: true});
  }
}
define('backups-view', BackupsView, LISTING);

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
      <form class="card narrow" @submit=${submitted(wanted => this.#look(wanted))}>
        ${field({label: 'E-mail address', name: 'email', type: 'email', required: true})}
        ${select({label: 'Container', name: 'container', list: named(this.containers, 'all')})}
        ${select({label: 'Backup', name: 'at', list: [['', 'the last one'], ...[...this.kept].reverse().map(
          moment => [moment, new Date(moment).toLocaleString()])]})}
        ${check('Shares too, with all who took part', 'shares')}
        ${problem(failure)}
        <div class="row"><button ?disabled=${busy}>${busy ? 'Reading the backup…' : 'Show what would come back'}</button></div></form>
      ${report ? this.#report(report, wanted) : nothing}</section>`;
  }

  #report({made, changed, same, newer, shares, sharesLeft, failed, done, problems = [], failures = [], notes = []}, wanted) {
    return html`<div class="card"><h3>${done ? 'Done for' : 'Of'} <bdi>${wanted.email}</bdi></h3>${facts([
        [`Records that ${done ? 'have' : 'would'} come back`, number(made)],
        [`${done ? 'Got' : 'Would get'} the backup’s values`, number(changed)],
        ['Are as they were', number(same)], ['Newer, and stay as they are', number(newer)],
        ['Shares', `${number(shares)}${sharesLeft ? `, ${number(sharesLeft)} stay away` : ''}`],
        ['Failed', number(failed), failed ? 'bad' : nothing]])}
      ${[...problems, ...failures, ...notes].map(text => html`<p class="note">${text}</p>`)}
      ${!done && made + changed + shares > 0 ? operator().readOnly ? html`<p class="quiet">${LOOKS_ONLY}</p>` : html`<button type="button" ?disabled=${this.state.busy}
        @click=${() => this.#restore(wanted)}>Bring them back</button>` : !done ? html`<p class="quiet">Nothing has to come back.</p>`
        : nothing}</div>`;
  }

  async #look({shares, ...wanted}) {
    if (shares) wanted.shares = true;
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
    return html`<div class="head"><h2>Around the server</h2>${this.again()}</div>
      ${this.shown('Looking at disk, network, mail and backups…', ({findings}) => table('Findings', ['', 'What', 'How it is', 'What to do'],
        Object.keys(LEVELS).flatMap(level => findings.filter(one => one.level === level)).map(({subject, level, text, remedy}) => html`<tr>
          <td class=${level === 'problem' ? 'bad' : nothing}>${LEVELS[level]}</td><th scope="row">${subject}</th><td>${text}</td>
          <td>${remedy || '–'}</td></tr>`)))}
      ${may('check') ? html`<data-check></data-check>` : nothing}
      ${may('server mail') ? html`<section aria-labelledby="mail"><h2 id="mail">Test letter</h2><form class="adding" @submit=${submitted(({email}) =>
          this.act('server mail', {email}, `A letter to ${email} is handed on.`))}>${field({label: 'E-mail address', name: 'email', type: 'email', required: true})}
        <button ?disabled=${this.busy}>${this.busy ? 'Sending…' : 'Send'}</button></form>${this.outcome()}</section>` : nothing}`;
  }
}
define('checks-view', ChecksView, LISTING);

/// Reads everything that is stored. It takes as long as there is data, and goes on at the server when one leaves.
class DataCheck extends Asking {
  asks() { return []; }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  async #run(values) {
    const began = Date.now();
    this.state = {began, seconds: 0};
    this.timer = setInterval(() => this.set({seconds: Math.round((Date.now() - began) / 1000)}), 1000);
    await this.ask(async signal => {
      let found;
      for await (const line of follow('check', {...values, progress: true}, {signal})) {
        if (line.progress) this.set({at: line.progress}); else found = line;
      }
      this.state = {found, seconds: this.state.seconds};
      say('Everything is read.');
    }, failure => { this.state = {failure}; });
    clearInterval(this.timer);
  }

  render() {
    const {began, seconds, at = '', found, failure} = this.state;
    return html`<section aria-labelledby="check"><h2 id="check">All that is stored</h2>
      <p class="quiet">Reads every record, index and file, and says what is not what was written. Apps go on meanwhile.</p>
      <div class="row"><button type="button" ?disabled=${began} @click=${() => this.#run({})}>Check everything</button></div>
      ${began ? html`<p class="waiting" role="status">Reading everything…</p><p class="quiet" aria-hidden="true"><progress max="100"
        .value=${parseInt(at, 10) || 0}></progress> ${at}, ${many(seconds, 'second')}</p>` : nothing}
      ${problem(failure)}
      ${found ? html`${found.ok ? html`<p class="note"><b>No problems.</b></p>` : html`${problems(html`<b>${many(found.problems.length, 'problem')}</b>`,
          found.problems)}${!operator().readOnly ? html`<button type="button" class="danger" @click=${() => this.#removeDamaged()}>Remove damaged
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
    const {search: word = '', changed} = this.values;
    return html`<h2>Settings</h2><p class="quiet">As the server began with them. Change them where they are said, and start it anew.</p>
      ${search(html`${short({label: 'Setting', name: 'search', type: 'search', value: word})}${check('Only those that somebody has set',
        'changed', changed, is => change({changed: is ? '1' : ''}))}`, ({search}) => change({search}))}
      ${this.shown('Looking for settings…', ({settings}) => this.#list(settings.filter(({setting, from}) =>
        setting.toLowerCase().includes(word.toLowerCase()) && (!changed || from !== 'default'))))}`;
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
    return html`<div class="head"><h2>Alerts</h2>${this.opener('Add an alert', 'alert add')}</div>
      ${this.#add()}
      ${this.shown('Looking for alerts…', ({alerts}) => alerts.length === 0 ? empty('Nobody is told of anything yet.')
        : table('Alerts', ['Name', 'When', 'Of', 'Tells', 'Last told', ''], alerts.map(alert => this.#row(alert))))}`;
  }

  #row({name, metric, above, threshold, relative, minutes, container, environment, database, operation, client, code, mail, url, told}) {
    return html`<tr><th scope="row">${name}</th><td>${METRICS[metric] ?? metric} ${above ? 'above' : 'below'} ${threshold}${
        relative ? ' % of the time before' : ''} in ${many(minutes, 'minute')}</td>
      <td><bdi>${[container, environment, database, operation, client, code].filter(Boolean).join(', ') || 'everything'}</bdi></td>
      <td><bdi>${[mail, url].filter(Boolean).join(', ')}</bdi></td><td>${told ? time(told) : 'never'}</td>
      <td><div class="row tools">${may('alert test') ? this.doing('Test', name, () => this.act('alert test', {name}, ({text}) => `Told: ${text}`)) : nothing}
        ${this.removing('alert remove', name, {name}, 'Remove the alert?', html`Nobody is told by <b>${name}</b> any more.`)}</div></td></tr>`;
  }

  #add() {
    const {made} = this;
    return this.form(html`
      ${field({label: 'Name', name: 'name', required: true, pattern: '[A-Za-z0-9_\\-]+', autofocus: true, hint: 'Letters, digits, hyphens and _.'})}
      ${select({label: 'What is counted', name: 'metric', list: Object.entries(METRICS)})}
      ${select({label: 'Told when it is', name: 'side', list: [['above'], ['below']]})}
      ${field({label: 'Threshold', name: 'threshold', required: true, pattern: '[0-9.]+%?', hint: 'A number; with %, so much more or less than the time before.'})}
      ${field({label: 'Over so many minutes', name: 'minutes', value: '5', inputmode: 'numeric', pattern: '[0-9]+', required: true})}
      ${select({label: 'Container', name: 'container', list: named(this.containers, 'all')})}
      ${environmentField('both')}
      ${field({label: 'Operation', name: 'operation', hint: 'Such as records/modify. Left empty, all.'})}
      ${field({label: 'E-mail address', name: 'mail', type: 'email', hint: 'Alerts go here. An address or a URL is needed.'})}
      ${field({label: 'URL', name: 'url', type: 'url', hint: 'Where JSON is posted to, signed.'})}`,
    async ({side, threshold, ...values}) => {
      this.made = await this.act('alert add', {...values, [side]: threshold}, 'The alert is added.');
      if (this.made) this.load({keeps: true});
      if (this.made && !this.made.signingKey && !this.made.warnings.length) this.adding = false;
    }, made && html`<p><b>${made.alert}</b> is added.</p>${made.signingKey ? html`<p>Its requests are signed by this key, shown
      this once.</p>${copyable(made.signingKey, 'Signing key')}` : nothing}${made.warnings.map(text => html`<p class="note">${text}</p>`)}`);
  }
}
define('alerts-view', AlertsView, LISTING);

/// Who did what to what is not theirs, the latest first; and whether the log is as it was written.
class AuditView extends Listing {
  asks() { return [this.values.search, this.values.since]; }

  find(signal) {
    const {search, since} = this.values;
    const {entries = [], problems = []} = this.next ? this.found : {};
    return this.page('audit list', 'entries', {search, since}, signal).then(page => ({
      // Each page has its oldest first.
      entries: [...entries, ...page.entries.slice(entries.length).reverse()], problems: [...problems, ...page.problems]}));
  }

  render() {
    const {search: word, since} = this.values;
    return html`<h2>Audit</h2>${search(html`${short({label: 'Begins with', name: 'search', value: word, hint: 'Operator, action, account'})}
        ${short({label: 'Since', name: 'since', type: 'date', value: since})}`, change)}
      ${this.shown('Reading the log…', ({entries, problems: wrong}) => html`${wrong.length
        ? problems(html`<b>The log is not as it was written:</b>`, wrong) : nothing}
        ${entries.length === 0 ? empty('Nothing is noted.') : html`${table('What was done', ['When', 'Who', 'What', 'Account', 'Of what'],
          entries.map(({time: when, who, what, account, detail}) => html`<tr><td>${time(when)}</td><td><bdi>${who}</bdi></td><td>${what}</td>
            <td>${account ? html`<code>${account}</code>` : '–'}</td><td><bdi>${detail ?? '–'}</bdi></td></tr>`))}
          ${this.foot(`${many(entries.length, 'entry')}, the latest first`)}`}`)}`;
  }
}
define('audit-view', AuditView, LISTING);

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
    return html`<h2>About</h2>${this.shown('Looking…', ({version, commit, since, processes = []}) => facts([['Version', version], ['Commit', html`<code>${commit || '–'}</code>`],
      ['Serving since', time(since)],
      ...processes.map(({process, version, begun, seen, isOwn}) => [isOwn ? 'This process' : 'Another process',
        html`<code>${process.slice(0, 8)}</code> of ${version}, since ${time(begun)}, heard of ${time(seen)}`])], 'about card'))}
      <h2>Made with</h2>${table('Licences', ['What', 'For', 'Licence'], MADE_OF.map(([name, licence, address, use]) => html`<tr>
        <th scope="row">${name}</th><td>${use}</td><td><a href=${address} target="_blank" rel="noreferrer"
        aria-label=${`Licence of ${name}: ${licence}`}>${licence}</a></td></tr>`))}`;
  }
}
define('about-view', AboutView, LISTING);

class IndexWork extends Listing {
  asks() { return []; }

  async find(signal) {
    this.watch();
    const {items} = await all('container list', 'containers', {}, {signal});
    const work = [];
    const refused = [];
    await each(items, async ({container}) => {
      try {
        // Those that hold something: to ask for the indexes of another one would begin it.
        const {environments} = await run('size', {container}, {signal});
        for (const {environment} of environments) {
          const {indexes} = await run('schema indexes', {container, environment}, {signal});
          work.push(...indexes.filter(({state}) => state !== 'whole').map(index => ({container, environment, ...index})));
        }
      } catch (failure) {
        if (failure.name === 'AbortError' || failure.code === 'OFFLINE') throw failure;
        refused.push(`${container}: ${failure.message}`);
      }
    });
    this.watch(work.length);
    return {work: work.sort((one, other) => JSON.stringify(one) < JSON.stringify(other) ? -1 : 1), refused};
  }

  render() {
    return html`<div class="head"><h2>Index work</h2>${this.again()}</div>
      <p class="quiet">An index is filled when a query first needs it, and removed when the schema no longer has it. Apps go on meanwhile.</p>
      ${this.shown('Looking at the indexes of all containers…', ({work, refused}) => html`${
        work.length ? table('Index work', ['Container', 'Environment', 'Field', 'Index', 'How far'], work.map(
          ({container, environment, type, field, kind, ...index}) => html`<tr><th scope="row"><a
            href=${to('schema', {container, environment, type})}><bdi>${container}</bdi></a></th><td>${environment}</td>
            <td><code>${type}.${field}</code></td><td>${kind}</td><td>${indexWork(`${kind} index of ${type}.${field}`, index)}</td></tr>`)) : empty('No index is being filled or removed.')}
        ${refused.length ? problems(`${many(refused.length, 'container')} could not be looked at.`, refused) : nothing}`)}`;
  }
}
define('index-work', IndexWork, LISTING);
