// The frame around all screens: who is signed in, where one is, and the screen itself.

import {Part, define, files, html, nothing, problem, serverName, waiting} from './parts.js';
import {all, isHere, may, operator, resume, signOut, whenProofIsNeeded} from './api.js';
import {change, go, read, to} from './address.js';
import {signInAgain} from './sign-in.js';

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
  tokens: {title: 'Tokens', needs: 'api-token list', load: () => import('./tokens.js')},
  logs: {title: 'Logs', needs: 'logs', load: () => import('./logs.js')},
  delivery: {title: 'Delivery', needs: 'outbox list', within: true, load: () => import('./delivery.js')},
  operations: {title: 'Operations', needs: 'server show', load: () => import('./operations.js')},
};

// These are of the whole server.
const SERVER_SCREENS = new Set(['overview', 'containers', 'operations']);

class ConsoleApp extends Part {
  constructor() {
    super();
    this.state = 'waiting';
    this.containers = null;
    this.place = read();
    whenProofIsNeeded(signInAgain);
    addEventListener('addresschange', () => this.#arrive());
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
    this.#arrive();
    await this.#loadContainers();
  }

  async #loadContainers() {
    try {
      const {items} = await all('container list', 'containers');
      this.containers = items.map(({container, made, settings, missing}) => ({
        id: container, name: settings.name, made, missing}));
    } catch (failure) {
      this.failure = failure;
    }
  }

  async #arrive() {
    this.place = read();
    const screen = SCREENS[this.place.screen];
    document.title = `${screen?.title ?? 'Console'} · ${serverName}`;
    if (!screen) return;
    try {
      await screen.load();
      this.failure = null;
    } catch {
      this.failure = {code: 'OFFLINE', message: 'The screen could not be loaded.'};
    }
    this.requestUpdate();
    await this.updateComplete;
    // On a narrow screen the way to all screens is one line that scrolls.
    this.querySelector('nav a[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  async #leave() {
    try {
      await signOut();
      this.containers = null;
      this.state = 'out';
      go('overview', {as: ''});
    } catch (failure) {
      this.failure = failure;
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
          <button type="button" class="second" @click=${() => this.#leave()}>Sign out</button>
          <p class="quiet small">Made with <a href="${files}lit.txt" target="_blank">lit</a> and
            <a href="${files}uPlot.txt" target="_blank">uPlot</a>.</p></div></details></header>
      ${this.#acting(values.as)}
      ${SCREENS[screen]?.within ? this.#choice(container, environment) : nothing}
      <main id="screen" tabindex="-1">${problem(this.failure, () => this.#arrive())}${this.#screen()}</main>
      <p id="said" role="status" class="said"></p>`;
  }

  /// On whose behalf the operator looks: a state that is entered at a person, and left here.
  #acting(as) {
    return as ? html`<section class="acting" aria-label="On behalf of somebody"><p>You act as <b><bdi>${as}</bdi></b>. <i>Data</i>
      shows what they see, and what you change there is changed on their behalf. They are told at their account.</p>
      <button type="button" class="second small" @click=${() => change({as: '', zone: '', owner: '', record: '', database: ''})}>
        Stop acting as them</button></section>` : nothing;
  }

  /// Where: a container and an environment, on every screen that is within one.
  #choice(container, environment = 'development') {
    return html`<section class="where" aria-label="Container and environment"><label>Container <select @change=${event => change(
        {container: event.target.value, zone: '', owner: '', type: '', after: '', user: '', record: '', open: ''})}>
        <option value="" ?selected=${!container}>choose…</option>
        ${(this.containers ?? []).map(({id, name}) => html`<option value=${id} ?selected=${id === container}>${
          name ? `${name} (${id})` : id}</option>`)}
      </select></label>
      <div class="switch" role="group" aria-label="Environment">${['development', 'production'].map(name => html`
        <button type="button" aria-pressed=${name === environment ? 'true' : 'false'}
          @click=${() => change({environment: name, after: '', record: ''})}>${name}</button>`)}</div></section>`;
  }

  #screen() {
    const {screen, values} = this.place;
    const environment = values.environment ?? 'development';
    switch (screen) {
      case 'overview': return html`<overview-screen .values=${values}></overview-screen>`;
      case 'containers': return html`<containers-screen .containers=${this.containers}></containers-screen>`;
      case 'start': return html`<start-screen .container=${values.container}></start-screen>`;
      case 'data': return html`<data-screen .values=${{...values, environment}}
        .containers=${this.containers}></data-screen>`;
      case 'schema': return html`<schema-screen .values=${{...values, environment}}></schema-screen>`;
      case 'sharing': return html`<sharing-screen .values=${{...values, environment}}></sharing-screen>`;
      case 'tokens': return html`<tokens-screen .values=${values} .containers=${this.containers}></tokens-screen>`;
      case 'people': return html`<people-screen .values=${values} .containers=${this.containers}></people-screen>`;
      case 'telemetry': return html`<telemetry-screen .values=${{...values, environment}}></telemetry-screen>`;
      case 'logs': return html`<logs-screen .values=${values} .containers=${this.containers}></logs-screen>`;
      case 'delivery': return html`<delivery-screen .values=${{...values, environment}}></delivery-screen>`;
      case 'operations': return html`<operations-screen .values=${values} .containers=${this.containers}></operations-screen>`;
      default: return html`<h1>Nothing is here</h1><p><a href=${to('overview')}>To the overview</a></p>`;
    }
  }
}
define('console-app', ConsoleApp, ['state', 'place', 'containers', 'failure']);
