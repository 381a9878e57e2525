// What is told to whom: what waits and fails, subscriptions, webhooks with what they refused, and the keys of pushes.

import {LISTING, Listing, Part, all, button, change, copyable, define, empty, field, html, many, may, nothing, number, run,
  search, short, table, time, to, user as ofUser} from './screen.js';

const KINDS = {fetches: 'fetches by itself', apple: 'Apple device', browser: 'browser', webhook: 'webhook'};
const VIEWS = [['', 'Waiting', 'outbox list', 'outbox-view'], ['webhooks', 'Webhooks', 'webhook list', 'webhooks-view'],
  ['subscriptions', 'Subscriptions', 'subscription list', 'subscriptions-view'],
  ['keys', 'Push keys', 'push key list', 'push-keys-view']];
const place = ({container, environment}) => ({container, environment});

class DeliveryScreen extends Part {
  render() {
    const {container, environment} = this.values;
    return html`<h1>Delivery</h1>${!container ? empty('Choose a container to see what it tells to whom.')
      : this.views('Parts of delivery', VIEWS, view => to('delivery', {container, environment, view}))}`;
  }
}
define('delivery-screen', DeliveryScreen, ['values']);

/// For whom notices wait; of one user all devices, which can be tried.
class OutboxView extends Listing {
  asks() { return [...super.asks(), this.values.user]; }

  find(signal) { return run('outbox list', {...place(this.values), user: this.values.user}, {signal}); }

  render() {
    const {user} = this.values;
    return html`<h2>Waiting</h2>${search(ofUser(user), change)}
      ${this.shown('Looking for what waits…', ({waiting, oldest, destinations, isCut}) => html`
        <p class="quiet">${waiting === 0 ? 'Nothing waits.' : html`${many(waiting, 'notice')} of this environment
          ${waiting === 1 ? 'waits' : 'wait'}${oldest ? html`, the oldest since ${time(oldest)}` : nothing}.`}</p>
        ${destinations.length ? table('For whom notices wait', ['To', 'Waiting', 'Since', 'Failing', 'Last heard of'],
          destinations.map(entry => this.#row(entry)))
          : empty(user ? 'This user has no registered device or browser.' : 'No device, browser or webhook has to be waited for.')}
        ${isCut ? html`<p class="quiet foot">There are more. Search for a user.</p>` : nothing}`)}
      <div class="row">${user && may('push test') ? html`<button type="button" ?disabled=${this.busy}
          @click=${() => this.#test()}>Send a test push</button>` : nothing}
        ${this.again({keeps: true})}</div>${this.outcome()}`;
  }

  #row({kind, email, device, waiting, since, failures, used}) {
    const {container, environment} = this.values;
    return html`<tr><th scope="row">${kind === 'webhook' ? html`<a href=${to('delivery', {container, environment,
        view: 'webhooks'})}>webhook <bdi>${device}</bdi></a>` : html`<bdi>${email ?? 'somebody without an address'}</bdi>
        <br><span class="quiet">${KINDS[kind] ?? kind}${device ? html` <bdi>${device}</bdi>` : nothing}</span>`}</th>
      <td>${waiting === 1000 ? '1,000 or more' : number(waiting)}</td><td>${time(since)}</td>
      <td class=${failures ? 'bad' : nothing}>${failures ? `${many(failures, 'attempt')} failed` : 'no'}</td>
      <td>${kind === 'webhook' ? '–' : time(used)}</td></tr>`;
  }

  async #test() {
    const sent = await this.act('push test', {...place(this.values), email: this.values.user}, ({destinations}) =>
      destinations.length ? `A notice is on its way to ${many(destinations.length, 'device')}.`
        : 'This user has no registered device or browser.');
    if (sent) this.load({keeps: true});
  }
}
define('outbox-view', OutboxView, LISTING);

class SubscriptionsView extends Listing {
  asks() { return [...super.asks(), this.values.user, this.values.search]; }

  find(signal) {
    const {user, search} = this.values;
    return this.page('subscription list', 'subscriptions', {...place(this.values), user, search}, signal);
  }

  render() {
    const {user, search: word} = this.values;
    return html`<h2>Subscriptions</h2>${search(html`${ofUser(user)}${short({label: 'ID begins with', name: 'search', value: word})}`, change)}
      ${this.shown('Looking for subscriptions…', ({subscriptions}) => subscriptions.length === 0
        ? empty(user || word ? 'There is no such subscription.' : 'Nobody waits to hear of anything.')
        : html`${table('Subscriptions', ['ID', 'Whose', 'Database', 'Of what', 'On'], subscriptions.map(one => this.#row(one)))}
          ${this.foot(many(subscriptions.length, 'subscription'))}`)}`;
  }

  #row({subscriptionID, email, userRecordName, database, type, recordType, zone, firesOn}) {
    const {container, environment} = this.values;
    return html`<tr><th scope="row"><bdi>${subscriptionID}</bdi></th>
      <td>${email ? html`<a href=${to('delivery', {container, environment, user: email})}><bdi>${email}</bdi></a>`
        : html`<code>${userRecordName}</code>`}</td><td>${database}</td>
      <td>${type === 'query' ? html`records of <bdi>${recordType}</bdi>` : type === 'zone' ? html`zone <bdi>${zone}</bdi>`
        : 'all zones'}${type !== 'zone' && zone ? html` in zone <bdi>${zone}</bdi>` : nothing}</td>
      <td>${firesOn.join(', ') || 'every change'}</td></tr>`;
  }
}
define('subscriptions-view', SubscriptionsView, LISTING);

class WebhooksView extends Listing {
  find(signal) { return run('webhook list', place(this.values), {signal}); }

  render() {
    const {webhook} = this.values;
    return html`<div class="head"><h2>Webhooks</h2>${this.opener('Add a webhook', 'webhook add')}</div>
      ${this.#add()}
      ${this.shown('Looking for webhooks…', ({webhooks}) => html`${webhooks.length === 0
        ? empty('No webhook is here. A webhook is told of every change by a request to a URL.')
        : table('Webhooks', ['Name', 'URL', 'Waiting', 'Given up', 'Failing', ''], webhooks.map(one => this.#row(one)))}
        ${webhooks.some(({name}) => name === webhook) ? html`<dead-letters .values=${this.values}
          @replayed=${() => this.load({keeps: true})}></dead-letters>` : nothing}`)}`;
  }

  #row({name, url, waiting, givenUp, failures, lastReason}) {
    const where = {...place(this.values), name};
    const lost = waiting + givenUp;
    return html`<tr><th scope="row"><bdi>${name}</bdi></th><td><bdi>${url}</bdi></td><td>${number(waiting)}</td>
      <td>${givenUp ? html`<a href=${to('delivery', {...this.values, webhook: name})}
        aria-label=${`${many(givenUp, 'notice')} given up for ${name}`}>${many(givenUp, 'notice')}</a>` : '0'}</td>
      <td>${failures ? html`<span class="bad">${many(failures, 'attempt')} failed</span>` : 'no'}${lastReason
        ? html`<br><span class="quiet">last given up: ${lastReason}</span>` : nothing}</td>
      <td><div class="row tools">${may('webhook test') ? this.doing('Test', name, () => this.act('webhook test', where,
          `${name} has taken it.`)) : nothing}
        ${this.removing('webhook remove', name, where, 'Remove the webhook?', html`<b><bdi>${name}</bdi></b> is told of nothing any more${
          lost ? html`, and ${many(lost, 'notice')} that ${lost === 1 ? 'waits or was' : 'wait or were'} given up ${
            lost === 1 ? 'is' : 'are'} lost` : nothing}. Its signing key is gone.`)}</div></td></tr>`;
  }

  #add() {
    const {made} = this;
    return this.form(html`
      ${field({label: 'URL', name: 'url', type: 'url', required: true, autofocus: true, hint: 'https://, on the internet.'})}
      ${field({label: 'Name', name: 'name', maxlength: 64, hint: 'To know it by. Left empty, the server names it.'})}`,
    async values => {
      this.made = await this.act('webhook add', {...place(this.values), ...values}, 'The webhook is added.');
      if (this.made) this.load({keeps: true});
    }, made && html`<p><b><bdi>${made.webhook}</bdi></b> is told of every change from now on. Its signing key is shown this
      once: by it the receiver knows that a request is this server's.</p>${copyable(made.signingKey, 'Signing key')}
      ${made.warnings.map(text => html`<p class="note">${text}</p>`)}`);
  }
}
define('webhooks-view', WebhooksView, LISTING);

/// What was given up for a webhook, to be sent again.
class DeadLetters extends Listing {
  asks() { return [...super.asks(), this.values.webhook]; }

  async find(signal) {
    const {items, isWhole} = await all('webhook dead-letters', 'deadLetters', {...place(this.values),
      name: this.values.webhook}, {signal, max: 1000});
    return {letters: items, isWhole};
  }

  render() {
    const {webhook} = this.values;
    return html`<section class="card letters" aria-labelledby="letters"><div class="head"><h3 id="letters">Given up for <bdi>${webhook}</bdi></h3>
        <a href=${to('delivery', {...this.values, webhook: ''})}>Close</a></div>${this.outcome()}
      ${this.shown('Looking for what was given up…', ({letters, isWhole}) => letters.length === 0
        ? html`<p class="quiet">Nothing is left here.</p>` : html`
        ${table('What was given up', ['Made', 'Given up', 'Database', 'Why'], letters.slice(0, 200).map(letter => html`<tr>
          <td>${time(letter.made)}</td><td>${time(letter.givenUp)}</td><td>${letter.database}</td>
          <td>${letter.reason}</td></tr>`))}
        <p class="quiet foot">${isWhole ? many(letters.length, 'notice') : 'More than 1,000 notices'}, the oldest first.</p>
        ${may('webhook replay') ? html`<button type="button" ?disabled=${this.busy} @click=${() => this.#replay()}>Send
          all again</button>` : nothing}`)}</section>`;
  }

  async #replay() {
    const sent = await this.act('webhook replay', {...place(this.values), name: this.values.webhook},
      ({notices}) => `${many(notices, 'notice')} wait to be sent again.`);
    if (!sent) return;
    this.load();
    this.dispatchEvent(new CustomEvent('replayed'));
  }
}
define('dead-letters', DeadLetters, LISTING);

/// The keys by which the server pushes: to browsers its own, to Apple's devices those of the apps' developers.
class PushKeysView extends Listing {
  asks() { return [this.values.container]; }

  find(signal) { return run('push key list', {}, {signal}); }

  render() {
    const {container} = this.values;
    return html`<h2>Browsers</h2>${this.shown('Looking for keys…', ({webPushKey, keys}) => html`
      <p>Pages subscribe with this key (<code>applicationServerKey</code>). It is of the whole server, public, and never changes.</p>
      ${copyable(webPushKey, 'Key for browsers')}
      <div class="head"><h2>Apple’s devices</h2>${this.opener('Add a key', 'push key add')}</div>
      ${this.#add()}
      ${this.#list(keys.filter(key => key.container === container))}`)}`;
  }

  #list(keys) {
    if (keys.length === 0) return empty('No app of this container is pushed to on Apple’s devices.');
    return table('Push keys', ['App', 'Key', 'Team', 'Since', ''], keys.map(({topic, keyID, teamID, made}) => html`<tr>
      <th scope="row"><bdi>${topic}</bdi></th><td><code>${keyID}</code></td><td><code>${teamID}</code></td><td>${time(made)}</td>
      <td>${this.removing('push key remove', topic, {container: this.values.container, topic}, 'Remove the key?',
        html`<b><bdi>${topic}</bdi></b> is not pushed to any more.`)}</td></tr>`));
  }

  #add() {
    return this.form(html`
      ${field({label: 'Bundle ID of the app', name: 'topic', required: true, autofocus: true})}
      ${field({label: 'Key ID', name: 'key-id', required: true, hint: 'Ten letters and digits, as Apple names the key.'})}
      ${field({label: 'Team ID', name: 'team-id', required: true})}
      <div class="field"><label for="p8">Private key, a .p8 file</label><input id="p8" name="key" type="file" accept=".p8" required>
        <p class="quiet hint">It is kept sealed, and never shown.</p></div>`,
    async values => {
      const added = await this.act('push key add', {container: this.values.container, ...values, key: await values.key.text()},
        'The app is pushed to from now on.');
      if (!added) return;
      this.adding = false;
      this.load({keeps: true});
    });
  }
}
define('push-keys-view', PushKeysView, LISTING);
