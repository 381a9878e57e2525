// The frame around all screens: who is signed in, where one is, and the screen itself. What was typed stays while one signs in
// again.

import {Modal, Part, button, define, environments, field, files, html, named, nothing, pick, problem, serverName, serverURL,
  waiting} from './parts.js';
import {Latest, actAs, acting, all, isHere, may, operator, resume, signIn, signOut, whenProofIsNeeded} from './api.js';
import {change, go, mayLeave, read, to} from './address.js';

class SignIn extends Part {
  constructor() {
    super();
    this.state = {};
  }

  render() {
    const {failure, needsCode, busy} = this.state;
    return html`<form @submit=${event => this.#submit(event)} aria-busy=${busy ? 'true' : 'false'}>
      ${field({label: 'E-mail address', name: 'email', type: 'email', required: true, autocomplete: 'username',
        value: this.email ?? '', autofocus: true})}
      ${field({label: 'Password', name: 'password', type: 'password', required: true,
        autocomplete: 'current-password'})}
      <div ?hidden=${!needsCode}>${field({label: 'Code of your authenticator app', name: 'code',
        autocomplete: 'one-time-code', inputmode: 'numeric', maxlength: 32})}</div>
      ${failure?.code === 'SECOND_FACTOR_MISSING' ? html`<div class="problem" role="alert">
        <p>Operators sign in with a second factor. <a href="${serverURL}/account/second-factor" target="_blank"
          rel="noreferrer">Set one up</a>, then sign in here.</p></div>`
      : failure?.code === 'CODE_NEEDED' ? nothing : problem(failure)}
      <div class="row"><button ?disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
        ${this.cancel ? button('Cancel', this.cancel, {kind: 'second'}) : nothing}
      </div></form>`;
  }

  updated() {
    if (this.state.needsCode && this.state.failure?.code === 'CODE_NEEDED') {
      this.querySelector('[name=code]').focus();
    }
  }

  async #submit(event) {
    event.preventDefault();
    const {email, password, code} = event.target.elements;
    const given = [email.value, password.value, code.value.trim()];
    this.email = given[0];
    this.state = {...this.state, busy: true, failure: null};
    try {
      await signIn(...given);
      this.done();
    } catch (failure) {
      const needsCode = this.state.needsCode || failure.code === 'CODE_NEEDED';
      this.state = {failure, needsCode, busy: false};
    }
  }
}
define('sign-in', SignIn, ['state', 'email', 'done', 'cancel']);

/// Asks for a sign-in over the screen that is shown.
function signInAgain(failure) {
  return new Promise((done, refused) => {
    const dialog = document.createElement('sign-in-dialog');
    Object.assign(dialog, {
      failure, done: () => { dialog.remove(); done(); },
      cancel: () => { dialog.remove(); refused(failure); }});
    document.body.append(dialog);
  });
}

class SignInDialog extends Modal {
  render() {
    const why = this.failure.code === 'PROOF_NEEDED'
      ? 'What you asked for needs a sign-in of the last ten minutes.'
      : 'Your session has ended. What you have typed is still here.';
    return html`<dialog aria-labelledby="again-title" @cancel=${() => this.cancel()}>
      <h2 id="again-title">Sign in again</h2><p>${why}</p>
      <sign-in .email=${operator()?.email ?? ''} .done=${this.done} .cancel=${this.cancel}></sign-in></dialog>`;
  }
}
define('sign-in-dialog', SignInDialog, ['failure', 'done', 'cancel']);

// Each screen is an element of a module of its own, loaded when it is first shown.
const SCREENS = {
  overview: {title: 'Overview', needs: 'container list', load: () => import('./overview.js')},
  containers: {title: 'Containers', needs: 'container list', load: () => import('./containers.js')},
  start: {needs: 'container list', load: () => import('./containers.js')},
  data: {title: 'Data', needs: 'record list', within: true, load: () => import('./data.js')},
  schema: {title: 'Schema', needs: 'schema export', within: true, load: () => import('./schema.js')},
  sharing: {title: 'Sharing', needs: 'share list', within: true, load: () => import('./sharing.js')},
  people: {title: 'People', needs: 'user list', load: () => import('./people.js')},
  telemetry: {title: 'Telemetry', needs: 'telemetry show', within: true, load: () => import('./telemetry.js')},
  tokens: {title: 'Tokens', needs: 'api-token list', load: () => import('./containers.js')},
  logs: {title: 'Logs', needs: 'logs', load: () => import('./telemetry.js')},
  delivery: {title: 'Delivery', needs: 'outbox list', within: true, load: () => import('./delivery.js')},
  operations: {title: 'Operations', needs: 'server show', load: () => import('./operations.js')},
};

// These are of the whole server.
const SERVER_SCREENS = new Set(['overview', 'containers', 'operations']);

class ConsoleApp extends Part {
  #lists = new Latest();

  constructor() {
    super();
    this.state = 'waiting';
    this.containers = null;
    this.place = read();
    whenProofIsNeeded(signInAgain);
    addEventListener('addresschange', () => this.#arrive());
    addEventListener('actingchange', () => this.requestUpdate());
    addEventListener('containerschange', () => this.#loadContainers());
    this.#begin();
  }

  async #begin() {
    try {
      this.state = await resume() ? 'in' : 'out';
      if (this.state === 'in') await this.#enter();
    } catch (failure) {
      this.failure = failure;
      this.state = 'failed';
    }
  }

  async #enter() {
    this.state = 'in';
    this.#loadContainers();
    await this.#arrive();
  }

  /// What every screen chooses among: once, again as it changes, and again where it could not be had.
  async #loadContainers() {
    const signal = this.#lists.begin();
    this.listFailure = null;
    try {
      const {items} = await all('container list', 'containers', {}, {signal});
      this.containers = items.map(({container, made, settings, missing}) => ({
        id: container, name: settings.name, made, missing}));
    } catch (failure) {
      if (!signal.aborted) this.listFailure = failure;
    }
  }

  async #arrive() {
    const place = this.place = read();
    const screen = SCREENS[place.screen];
    document.title = `${screen?.title ?? 'Console'} · ${serverName}`;
    if (!screen) return;
    if (this.listFailure) this.#loadContainers();
    try {
      await screen.load();
      if (this.place === place) this.failure = null;
    } catch {
      if (this.place === place) this.failure = {code: 'OFFLINE', message: 'The screen could not be loaded.'};
    }
    this.requestUpdate();
    await this.updateComplete;
    // On a narrow screen the ways to screens and their parts are lines that scroll.
    this.querySelectorAll('nav a[aria-current]').forEach(link => link.scrollIntoView({block: 'nearest', inline: 'nearest'}));
  }

  #leave() {
    return this.#end(async () => {
      if (!await mayLeave(to('overview'))) return;
      await signOut();
      this.containers = null;
      this.state = 'out';
      await this.updateComplete;
      go('overview');
    });
  }

  /// Ends the session, or what it is on behalf of; what goes wrong is said until it is tried again.
  async #end(work) {
    this.ending = null;
    try {
      await work();
    } catch (failure) {
      this.ending = {failure, again: () => this.#end(work)};
    }
  }

  render() {
    switch (this.state) {
      case 'waiting': return html`<main class="narrow">${waiting('One moment…')}</main>`;
      case 'failed': return html`${this.#mark()}<main class="narrow"><h1>Console</h1>
        ${problem(this.failure, () => { this.state = 'waiting'; this.#begin(); })}</main>`;
      case 'out': return html`${this.#mark()}<main class="narrow"><h1>Sign in to the console</h1>
        <p class="quiet">For operators of this server.</p>
        <sign-in .done=${() => this.#enter()}></sign-in></main>`;
      default: return this.#frame();
    }
  }

  #mark() {
    return html`<header><img src="${files}icon" alt="" width="32" height="32"><bdi>${serverName}</bdi></header>`;
  }

  #frame() {
    const {screen, values} = this.place;
    const {container, environment} = values;
    const shown = Object.entries(SCREENS).filter(([, {title, needs}]) => title && isHere(needs) && may(needs));
    return html`<a class="skip" href="#screen" @click=${event => {
      event.preventDefault();
      this.querySelector('#screen').focus();
    }}>Skip to the content</a>
      <header class="bar"><a class="mark" href=${to('overview')}><img src="${files}icon" alt="" width="28"
          height="28"><bdi>${serverName}</bdi></a>
        <nav aria-label="Screens">${shown.map(([name, {title}]) => html`<a
          href=${to(name, SERVER_SCREENS.has(name) ? {} : {container, environment})}
          aria-current=${name === screen ? 'page' : nothing}>${title}</a>`)}</nav>
        <details class="who" @focusout=${event => {
          if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.open = false;
        }}><summary>${operator().email}</summary><div class="menu">
          <p>${operator().readOnly ? 'You look, and change nothing.' : 'You may change things.'}
            ${operator().allContainers ? 'All containers.' : (operator().containers ?? []).join(', ')}</p>
          ${button('Sign out', () => this.#leave(), {kind: 'second'})}
          <p class="quiet small">Made with <a href="${files}lit.txt" target="_blank">lit</a> and
            <a href="${files}uPlot.txt" target="_blank">uPlot</a>.</p></div></details></header>
      ${this.#acting()}
      ${SCREENS[screen]?.within ? this.#choice(container, environment) : nothing}
      <main id="screen" tabindex="-1">${problem(this.ending?.failure, this.ending?.again)}${
        problem(this.failure, () => this.#arrive())}${problem(this.listFailure, () => this.#loadContainers())}${this.#screen()}</main>
      <p id="said" role="status" class="said"></p>`;
  }

  /// On whose behalf the operator looks: a state that is entered at a person, and left here.
  #acting() {
    const as = acting();
    return as ? html`<section class="acting" aria-label="On behalf of somebody"><p>You act as <b><bdi>${as.user}</bdi></b> in
      <bdi>${as.container}</bdi>, ${as.environment}: you see and change what they may, and they are told.</p>
      ${button('Stop acting as them', () => this.#stop())}</section>` : nothing;
  }

  #stop() {
    return this.#end(async () => {
      await actAs(null);
      change({zone: '', owner: '', record: '', database: '', open: ''});
    });
  }

  /// Where: a container and an environment, on every screen that is within one.
  #choice(container, environment) {
    return html`<section class="where" aria-label="Container and environment">${pick('Container', named(this.containers, 'choose…'), container ?? '',
      id => change({container: id, zone: '', owner: '', type: '', after: '', user: '', record: '', open: ''}))}
      ${environments(environment, name => change({environment: name, after: '', record: ''}))}</section>`;
  }

  #screen() {
    const {screen, values} = this.place;
    const found = SCREENS[screen];
    if (!found) return html`<h1>Nothing is here</h1><p><a href=${to('overview')}>To the overview</a></p>`;
    if (!customElements.get(`${screen}-screen`)) return this.failure ? nothing : waiting('One moment…');
    const {container, environment = 'development'} = values;
    const as = acting();
    const isThere = as && as.container === container && as.environment === environment;
    // Only the session says as whom: no address does.
    const who = {as: isThere ? as.user : undefined, ...isThere ? {user: as.user} : screen === 'sharing' ? {user: undefined} : {}};
    return this.child(`${screen}-screen`, {
      values: found.within ? {...values, environment, ...who} : values, container,
      // None while they are awaited; undefined where they cannot be had.
      containers: this.containers ?? (this.listFailure ? undefined : null)});
  }
}
define('console-app', ConsoleApp, ['state', 'place', 'containers', 'failure', 'listFailure', 'ending']);
